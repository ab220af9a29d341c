{{/* What pod security "restricted" asks of a pod; the group too, as one runtime gives group 0 where only the user is said. */}}
{{- define "punctual.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "punctual.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/*
The fields of a pod's spec that do not depend on what it runs. Arguments: root, component, values (the component's).
Service links are off: a Service called punctual would make variables that read as settings.
*/}}
{{- define "punctual.podPlacement" -}}
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "punctual.podSecurity" . | nindent 2 }}
{{- end -}}

{{/*
Annotations of the pods of one component. Arguments: root, values (the component's). Pods read the URL of Redis from a
Secret, and only at their start: without a mark of it some would go on with the Redis of before while others begin on
the new one. The other Secrets of the chart never change. A plain hash would let whoever may read pods try passwords;
derivePassword is scrypt.
*/}}
{{- define "punctual.podAnnotations" -}}
{{- $own := dict -}}
{{- with .root.Values.redis.external.url -}}
{{- $mark := derivePassword 1 "long" . "redis-url" (include "punctual.fullname" $.root) | sha256sum | trunc 16 -}}
{{- $own = dict "checksum/redis-url" $mark -}}
{{- end -}}
{{- with merge $own .values.podAnnotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Spreads the pods of one component over nodes and zones, as far as there are any. */}}
{{- define "punctual.topologySpread" -}}
{{- $labels := include "punctual.selector" . -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" -}}
- topologyKey: {{ . }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- $labels | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{ end -}}
{{- end -}}

{{/* The settings that the controller, the API and the executors share. */}}
{{- define "punctual.sharedEnv" -}}
# Pods have IPv4 or IPv6 addresses or both, depending on their cluster.
- name: PUNCTUAL_HOST
  value: '*'
- name: PUNCTUAL_LOG_FORMAT
  value: json
- name: PUNCTUAL_LOG_LEVEL
  value: {{ .Values.logLevel }}
- name: PUNCTUAL_SHARDS
  value: {{ .Values.shards | quote }}
- name: PUNCTUAL_SECRETS_KEY
  valueFrom:
    secretKeyRef:
      {{- include "punctual.keySecret" . | nindent 6 }}
{{- if include "punctual.hasBundledRedis" . }}
- name: PUNCTUAL_REDIS_URL
  value: redis://{{ include "punctual.fullname" . }}-redis:6379
- name: PUNCTUAL_REDIS_PASSWORD
  valueFrom:
    secretKeyRef:
      {{- include "punctual.redisPasswordSecret" . | nindent 6 }}
{{- else }}
- name: PUNCTUAL_REDIS_URL
  valueFrom:
    secretKeyRef:
      {{- include "punctual.redisUrlSecret" . | nindent 6 }}
{{- if .Values.redis.external.caSecret }}
- name: PUNCTUAL_REDIS_CA
  value: /etc/punctual/redis-ca/{{ .Values.redis.external.caSecretKey }}
{{- end }}
{{- end }}
{{- if .Values.redis.allowUnsafe }}
- name: PUNCTUAL_ALLOW_UNSAFE_REDIS
  value: 'true'
{{- end }}
{{- end -}}

{{/*
What outgoing calls may reach, judged at the push by the API and at the call by the executors. The API server's
address is in every pod's variables, service links or not.
*/}}
{{- define "punctual.egressEnv" -}}
{{- $allow := .Values.egress.allow -}}
{{- if include "punctual.hasTest" . -}}
{{- $allow = append $allow (include "punctual.testTarget" .) -}}
{{- end -}}
{{- with $allow -}}
- name: PUNCTUAL_EGRESS_ALLOW
  value: {{ join "," . | quote }}
{{ end -}}
- name: PUNCTUAL_EGRESS_DENY
  value: {{ prepend .Values.egress.deny "$(KUBERNETES_SERVICE_HOST)" | join "," | quote }}
- name: PUNCTUAL_EGRESS_ALLOWABLE
  value: {{ kindIs "string" .Values.egress.allowable | ternary .Values.egress.allowable (join "," .Values.egress.allowable) }}
{{- end -}}

{{/* What a team may hold at most; Helm may drop a key that is null, and prints large numbers as floats. */}}
{{- define "punctual.quotaEnv" -}}
{{- $variables := dict "queues" "QUEUES" "crons" "CRONS" "pendingJobs" "PENDING_JOBS" "storedBytes" "STORED_BYTES" "jobsPerMonth" "JOBS_PER_MONTH" "callsInFlight" "CALLS_IN_FLIGHT" -}}
{{- range $name, $variable := $variables }}
- name: PUNCTUAL_QUOTA_{{ $variable }}
  value: {{ if has (toString (get $.Values.quotas $name)) (list "" "<nil>") }}none{{ else }}{{ get $.Values.quotas $name | int64 | quote }}{{ end }}
{{- end -}}
{{- end -}}

{{/* The mail server for notifications; nothing without one. */}}
{{- define "punctual.mailEnv" -}}
{{- with .Values.notifications.smtp -}}
{{- if ne (empty .existingSecret) (empty .from) -}}
{{- fail "notifications.smtp: give existingSecret and from, or neither" -}}
{{- end -}}
{{- if .existingSecret -}}
- name: PUNCTUAL_SMTP_URL
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .existingSecretKey }}
- name: PUNCTUAL_SMTP_FROM
  value: {{ .from | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "punctual.podNameEnv" -}}
- name: PUNCTUAL_POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end -}}

{{- define "punctual.watchEnv" -}}
{{- with .Values.watchNamespaces -}}
- name: PUNCTUAL_WATCH_NAMESPACES
  value: {{ join "," . | quote }}
{{- end -}}
{{- end -}}

{{/* The certificate that an external Redis is verified by. */}}
{{- define "punctual.redisCaMount" -}}
{{- if .Values.redis.external.caSecret -}}
volumeMounts:
  - name: redis-ca
    mountPath: /etc/punctual/redis-ca
    readOnly: true
{{- end -}}
{{- end -}}
{{- define "punctual.redisCaVolume" -}}
{{- with .Values.redis.external.caSecret -}}
volumes:
  - name: redis-ca
    secret:
      secretName: {{ . }}
{{- end -}}
{{- end -}}

{{- define "punctual.container" -}}
image: {{ include "punctual.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- include "punctual.containerSecurity" . | nindent 2 }}
{{- end -}}

{{/*
Alive is whoever answers; Redis being away is no reason to restart. Starting waits for Redis, which may have a long
log to load.
*/}}
{{- define "punctual.aliveProbes" -}}
startupProbe:
  httpGet:
    path: /healthz
    port: ops
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet:
    path: /healthz
    port: ops
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 6
{{- end -}}
