# docker build .                                  compiles in here; the package registry must be reachable
# docker build --build-arg PROGRAM=prebuilt .     takes .image/, which `make image` lays out on the host
#
# Behind a proxy of your own: --secret id=npmrc,src=$HOME/.npmrc --secret id=ca,src=<PEM file>.
ARG BASE_IMAGE=base
ARG PROGRAM=build

# By its digest, which is that of all platforms together; updates come as changes of this line.
FROM node:26-bookworm-slim@sha256:2d49d876e96237d76de412761cf05dbfe5aee325cc4406a4d41d5824c5bb8beb AS base

FROM ${BASE_IMAGE} AS build
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
# No install scripts: the only one that matters brings Node 26, which the base image has.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=cache,target=/root/.npm \
    export NODE_EXTRA_CA_CERTS=/run/secrets/ca && npm ci --ignore-scripts --no-progress --loglevel=error
COPY . .
RUN PATH="$PATH:/source/node_modules/.bin" && node scripts/build.ts && node scripts/image-tree.ts /app

FROM scratch AS prebuilt
COPY .image /app

FROM ${PROGRAM} AS program

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="Punctual" org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production PATH=/app/bin:$PATH
COPY --from=program /app /app
# For a volume, which takes its owner from here: the data folder of a standalone.
RUN mkdir /data && chown 65532:65532 /data
USER 65532:65532
EXPOSE 8080 9090
# Signals are heeded from the first moment on: see scripts/image-init.sh. In a pod of 512 MiB Node would give new objects
# 4 MiB, and a tenth of the CPU would go into collecting them.
ENTRYPOINT ["/bin/sh", "/app/init.sh", "node", "--max-semi-space-size=16", "/app/dist/main.js"]
# A base without a shell, or without Node 26, ends here instead of in your cluster.
RUN ["/bin/sh", "/app/init.sh", "node", "/app/dist/main.js", "--version"]
RUN ["punctual", "--version"]
CMD ["--help"]
