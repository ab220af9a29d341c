#!/bin/sh
# The health check of a container: exit code 0 while the program inside is ready, as /readyz of its ops port says.
# An engine ends it after its own timeout.
exec node -e "fetch('http://127.0.0.1:${PUNCTUAL_OPS_PORT:-9090}/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"
