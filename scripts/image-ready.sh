#!/bin/sh
# The health check of a container: exit code 0 while the program inside is ready, as /readyz of its ops port says. An
# engine that does not hear for too long ends it. It runs every few seconds: fetch would take twice as long to load.
exec node -e "require('http').get('http://127.0.0.1:${PUNCTUAL_OPS_PORT:-9090}/readyz', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"
