# docker build .                                  compiles in here; the package registry must be reachable
# docker build --build-arg PROGRAM=prebuilt .     takes .image/, which `make image` lays out on the host
# docker build --target standalone .              the same with a Redis in it, for one machine (docs/adr/0043)
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
    if [ -e /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi && \
    npm ci --ignore-scripts --no-progress --loglevel=error
COPY . .
RUN PATH="$PATH:/source/node_modules/.bin" && node scripts/build.ts && node scripts/image-tree.ts /app

FROM scratch AS prebuilt
COPY .image /app

FROM ${PROGRAM} AS program

FROM ${BASE_IMAGE} AS punctual
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

FROM punctual AS standalone
USER root
# Debian's, so that scanners know it and its security updates come with a new build. A base that has one keeps it.
RUN command -v redis-server || command -v valkey-server || { \
      apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends redis-server && \
      rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*; }
# All addresses of the container: whoever runs it publishes the port. Its loopback holds nothing but this program, and
# host.docker.internal is a name only where Docker or --add-host makes it one.
ENV PUNCTUAL_HOST=* PUNCTUAL_DATA_DIR=/data PUNCTUAL_LOG_FORMAT=text \
    PUNCTUAL_EGRESS_ALLOW=127.0.0.0/8,::1/128,localhost,host.docker.internal
VOLUME /data
USER 65532:65532
HEALTHCHECK --start-period=60s --interval=5s --timeout=5s CMD ["punctual-ready"]
CMD ["standalone"]

# What is built when no target is named.
FROM punctual
