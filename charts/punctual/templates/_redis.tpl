{{/* Where the jobs are, as variables. Arguments: root, component. */}}
{{- define "punctual.redisEnv" -}}
{{- if include "punctual.hasBundledRedis" .root -}}
{{- if eq .root.Values.redis.durability "replicated" -}}
{{- fail "redis.durability: replicated needs a Redis of yours with a replica (redis.external); the bundled one is a single pod" -}}
{{- end -}}
{{- $hasUser := and (ne .component "controller") (include "punctual.hasRedisUsers" .root) -}}
- name: PUNCTUAL_REDIS_URL
  value: redis://{{ if $hasUser }}punctual-{{ .component }}@{{ end }}{{ include "punctual.fullname" .root }}-redis:6379
- name: PUNCTUAL_REDIS_PASSWORD
  valueFrom:
    secretKeyRef:
      {{- if $hasUser }}
      {{- include "punctual.redisUserSecret" . | nindent 6 }}
      {{- else }}
      {{- include "punctual.redisPasswordSecret" .root | nindent 6 }}
      {{- end }}
{{- else -}}
{{- with .root.Values.redis.external -}}
- name: PUNCTUAL_REDIS_URL
  valueFrom:
    secretKeyRef:
      {{- include "punctual.redisUrlSecret" $ | nindent 6 }}
{{- with .sentinels }}
- name: PUNCTUAL_REDIS_SENTINELS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .sentinelSecret }}
- name: PUNCTUAL_REDIS_SENTINEL_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.root.Values.redis.external.sentinelSecretKey }}
{{- end }}
{{- if .caSecret }}
- name: PUNCTUAL_REDIS_CA
  value: /etc/punctual/redis-ca/{{ .caSecretKey }}
{{- end }}
{{- if .clientSecret }}
- name: PUNCTUAL_REDIS_CERT
  value: /etc/punctual/redis-client/tls.crt
- name: PUNCTUAL_REDIS_KEY
  value: /etc/punctual/redis-client/tls.key
{{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The Secret with the URL for a component: roles may have keys of their own. Arguments: root, component. */}}
{{- define "punctual.redisUrlSecret" -}}
{{- $own := get .root.Values.redis.external.roleKeys .component -}}
{{- with .root.Values.redis.external -}}
{{- if and $own (not .existingSecret) -}}
{{- fail "redis.external.roleKeys: these are keys of existingSecret, which is not given" -}}
{{- end -}}
{{- if and .sentinelSecret (not .sentinels) -}}
{{- fail "redis.external.sentinelSecret: there are no sentinels" -}}
{{- end -}}
name: {{ .existingSecret | default (printf "%s-redis-url" (include "punctual.fullname" $.root)) }}
key: {{ $own | default (ternary .existingSecretKey "url" (ne .existingSecret "")) }}
{{- end -}}
{{- end -}}

{{/*
Ports at which a Redis of yours is reached, one a line: that of its URL, or the one that is given, because the chart does
not see a URL in a Secret; and those of the sentinels.
*/}}
{{- define "punctual.redisPorts" -}}
{{- with .Values.redis.external -}}
{{- $ofUrl := 6379 -}}
{{- with .url -}}
{{- $ofUrl = regexFind ":[0-9]+$" (urlParse .).host | trimPrefix ":" | default "6379" | int -}}
{{- end -}}
{{- if and .url (not .sentinels) .port (ne (int .port) $ofUrl) -}}
{{- fail (printf "redis.external.port: is %d, and the URL says %d" (int .port) $ofUrl) -}}
{{- end -}}
{{- $ports := list (.port | default $ofUrl | int) -}}
{{- range .sentinels -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default "26379" | int) -}}
{{- end -}}
{{- uniq $ports | join "\n" -}}
{{- end -}}
{{- end -}}

{{/* Whether the network policies open the port of a Redis of yours at any address; empty = no. */}}
{{- define "punctual.hasOpenRedisPort" -}}
{{- if and .Values.networkPolicy.enabled (not (include "punctual.hasBundledRedis" .)) (not .Values.redis.external.cidrs) -}}
true
{{- end -}}
{{- end -}}
