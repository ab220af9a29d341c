{{/*
A map of the chart and what a component or the installation sets in it: null takes a key away. Helm drops a key that is
null only where the chart itself has one. Arguments: a list of maps, the later ones win.
*/}}
{{- define "punctual.merged" -}}
{{- $all := dict -}}
{{- range . -}}
{{- range $key, $value := . -}}
{{- $_ := set $all $key $value -}}
{{- end -}}
{{- end -}}
{{- range $key, $value := $all -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $all $key -}}
{{- end -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/*
The head of a Deployment's spec: how many old ones are kept and how pods are replaced. Arguments: values (the
component's), strategy (the chart's own, may be absent).
*/}}
{{- define "punctual.deploymentHead" -}}
revisionHistoryLimit: {{ .values.revisionHistoryLimit | int64 }}
{{- with .values.strategy | default .strategy }}
strategy:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The annotations of a Deployment. Arguments: values (the component's). */}}
{{- define "punctual.deploymentAnnotations" -}}
{{- with .values.deploymentAnnotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* The labels of the pods of one component; the chart's own win. Arguments: root, component, values (the component's). */}}
{{- define "punctual.podLabels" -}}
{{- $own := include "punctual.selector" . | fromYaml -}}
{{- include "punctual.merged" (list .root.Values.commonLabels .values.podLabels $own) -}}
{{- end -}}

{{/* Whether a component's pods get their token: as it needs, unless it is said. Arguments: values, needed. */}}
{{- define "punctual.automount" -}}
{{- with .values.serviceAccount -}}
{{- kindIs "invalid" .automount | ternary $.needed .automount -}}
{{- end -}}
{{- end -}}

{{/* What a component's pod may do: the defaults are what pod security "restricted" asks. Arguments: root, values. */}}
{{- define "punctual.podSecurity" -}}
{{- include "punctual.merged" (list .root.Values.podSecurityContext (.values.podSecurityContext | default dict)) -}}
{{- end -}}
{{- define "punctual.containerSecurity" -}}
{{- include "punctual.merged" (list .root.Values.containerSecurityContext (.values.containerSecurityContext | default dict)) -}}
{{- end -}}

{{/*
The fields of a pod's spec that do not depend on what it runs. Arguments: root, component, values (the component's).
Service links are off: a Service called punctual would make variables that read as settings.
*/}}
{{- define "punctual.podPlacement" -}}
enableServiceLinks: false
{{- if not (kindIs "invalid" .root.Values.hostUsers) }}
hostUsers: {{ .root.Values.hostUsers }}
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.runtimeClassName }}
runtimeClassName: {{ . }}
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
{{- with .values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.hostAliases }}
hostAliases:
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

{{/*
Spreads the pods of one component over nodes and zones, as far as there are any, unless the component has constraints
of its own; none is none.
*/}}
{{- define "punctual.topologySpread" -}}
{{- if kindIs "invalid" .values.topologySpreadConstraints -}}
{{- $labels := include "punctual.selector" . -}}
topologySpreadConstraints:
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $labels | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
{{- end -}}
{{- else -}}
{{- with .values.topologySpreadConstraints -}}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The settings that the controller, the API and the executors share. Arguments: root, component. */}}
{{- define "punctual.sharedEnv" -}}
# Pods have IPv4 or IPv6 addresses or both, depending on their cluster.
- name: PUNCTUAL_HOST
  value: '*'
- name: PUNCTUAL_LOG_FORMAT
  value: json
- name: PUNCTUAL_LOG_LEVEL
  value: {{ .root.Values.logLevel }}
- name: PUNCTUAL_SHARDS
  value: {{ .root.Values.shards | quote }}
{{- if .root.Values.testClock }}
- name: PUNCTUAL_TEST_CLOCK
  value: 'true'
{{- end }}
{{ include "punctual.redisEnv" . }}
{{- if ne .root.Values.redis.durability "relaxed" }}
- name: PUNCTUAL_REDIS_DURABILITY
  value: {{ .root.Values.redis.durability }}
{{- end }}
{{- if and (eq .component "controller") (include "punctual.hasOpenRedisPort" .root) }}
# For the doctor, which runs here.
- name: PUNCTUAL_REDIS_OPEN_PORT
  value: 'true'
{{- end }}
{{- if .root.Values.redis.allowUnsafe }}
- name: PUNCTUAL_ALLOW_UNSAFE_REDIS
  value: 'true'
{{- end }}
{{- end -}}

{{/*
Refuses to turn the test clock on or off in a release that runs: all its new pods would end at their start, since Redis
keeps what an installation began with. Where Helm only renders, the pods say so themselves.
*/}}
{{- define "punctual.keepTestClock" -}}
{{- $controller := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-controller" (include "punctual.fullname" .)) -}}
{{- if $controller -}}
{{- $had := false -}}
{{- range (index $controller.spec.template.spec.containers 0).env -}}
{{- if eq .name "PUNCTUAL_TEST_CLOCK" -}}
{{- $had = true -}}
{{- end -}}
{{- end -}}
{{- $wanted := .Values.testClock | default false -}}
{{- if ne $had $wanted -}}
{{- fail (printf "testClock is %t and this release began with %t: it is fixed at the first start. Install another release, in another namespace" $wanted $had) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
The keys of secrets in Redis: the controller seals, the executors open. The API gets neither. The other keys are there
during a rotation alone.
*/}}
{{- define "punctual.keyEnv" -}}
- name: PUNCTUAL_SECRETS_KEY
  valueFrom:
    secretKeyRef:
      {{- include "punctual.keySecret" . | nindent 6 }}
- name: PUNCTUAL_OTHER_SECRETS_KEYS
  valueFrom:
    secretKeyRef:
      {{- include "punctual.otherKeysSecret" . | nindent 6 }}
      optional: true
{{- end -}}

{{/*
What outgoing calls may reach, judged at the push by the API and at the call by the executors. The API server's
address is in every pod's variables, service links or not.
*/}}
{{- define "punctual.egressEnv" -}}
{{- $allow := .Values.egress.allow -}}
{{- if include "punctual.hasTest" . -}}
{{- /* Inside the cluster only an entry with fixed addresses counts. */ -}}
{{- $target := include "punctual.testTarget" . -}}
{{- $allow = append $allow $target -}}
{{- range .Values.egress.clusterCidrs -}}
{{- $allow = append $allow (printf "%s=%s" $target .) -}}
{{- end -}}
{{- end -}}
{{- with $allow -}}
- name: PUNCTUAL_EGRESS_ALLOW
  value: {{ join "," . | quote }}
{{ end -}}
- name: PUNCTUAL_EGRESS_DENY
  value: {{ prepend .Values.egress.deny "$(KUBERNETES_SERVICE_HOST)" | join "," | quote }}
- name: PUNCTUAL_EGRESS_ALLOWABLE
  value: {{ kindIs "string" .Values.egress.allowable | ternary .Values.egress.allowable (join "," .Values.egress.allowable) }}
{{- with .Values.egress.clusterCidrs }}
- name: PUNCTUAL_EGRESS_CLUSTER_CIDRS
  value: {{ join "," . | quote }}
{{- end }}
{{- with include "punctual.ownHosts" . }}
- name: PUNCTUAL_EGRESS_OWN_HOSTS
  value: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* The hosts under which the API is found from outside. A wildcard may lead to others as well. */}}
{{- define "punctual.ownHosts" -}}
{{- $hosts := list -}}
{{- with .Values.publicUrl -}}
{{- $hosts = append $hosts (regexReplaceAll ":[0-9]+$" (get (urlParse .) "host") "") -}}
{{- end -}}
{{- if .Values.ingress.enabled -}}
{{- $hosts = concat $hosts .Values.ingress.hosts -}}
{{- end -}}
{{- if .Values.httpRoute.enabled -}}
{{- $hosts = concat $hosts .Values.httpRoute.hostnames -}}
{{- end -}}
{{- $named := list -}}
{{- range $hosts | uniq -}}
{{- if not (hasPrefix "*" .) -}}
{{- $named = append $named . -}}
{{- end -}}
{{- end -}}
{{- join "," $named -}}
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

{{/*
The variables of a component, and further ones of yours. The API server refuses a list that names one twice. Arguments:
component, own (the chart's), further.
*/}}
{{- define "punctual.env" -}}
{{- $names := list -}}
{{- range .own | fromYamlArray -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- range .further -}}
{{- if has .name $names -}}
{{- fail (printf "%s.extraEnv: the chart sets %s itself, or it is there twice; see docs/install.md for the value that it comes from" $.component .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{ .own | trim }}
{{- with .further }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "punctual.podNameEnv" -}}
- name: PUNCTUAL_POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end -}}

{{- define "punctual.podNamespaceEnv" -}}
- name: PUNCTUAL_POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- end -}}

{{- define "punctual.watchEnv" -}}
{{- if and .Values.watchNamespaces .Values.namespaceSelector -}}
{{- fail "give watchNamespaces or namespaceSelector, not both" -}}
{{- end -}}
{{- with .Values.watchNamespaces -}}
- name: PUNCTUAL_WATCH_NAMESPACES
  value: {{ join "," . | quote }}
{{- end -}}
{{- with .Values.namespaceSelector -}}
- name: PUNCTUAL_NAMESPACE_SELECTOR
  value: {{ . | quote }}
{{- end -}}
{{- end -}}

{{/* Mounts and volumes of the program's pods. Arguments: root, component, values (the component's). */}}
{{- define "punctual.volumeMounts" -}}
{{- $mounts := list -}}
{{- if .root.Values.redis.external.caSecret -}}
{{- $mounts = append $mounts (dict "name" "redis-ca" "mountPath" "/etc/punctual/redis-ca" "readOnly" true) -}}
{{- end -}}
{{- if .root.Values.redis.external.clientSecret -}}
{{- $mounts = append $mounts (dict "name" "redis-client" "mountPath" "/etc/punctual/redis-client" "readOnly" true) -}}
{{- end -}}
{{- if and (eq .component "api") .root.Values.api.tls.existingSecret -}}
{{- $mounts = append $mounts (dict "name" "api-tls" "mountPath" "/etc/punctual/api-tls" "readOnly" true) -}}
{{- end -}}
{{- with concat $mounts .values.extraVolumeMounts -}}
volumeMounts:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}
{{- define "punctual.volumes" -}}
{{- $volumes := list -}}
{{- with .root.Values.redis.external.caSecret -}}
{{- $volumes = append $volumes (dict "name" "redis-ca" "secret" (dict "secretName" .)) -}}
{{- end -}}
{{- with .root.Values.redis.external.clientSecret -}}
{{- $volumes = append $volumes (dict "name" "redis-client" "secret" (dict "secretName" .)) -}}
{{- end -}}
{{- if and (eq .component "api") .root.Values.api.tls.existingSecret -}}
{{- $volumes = append $volumes (dict "name" "api-tls" "secret" (dict "secretName" .root.Values.api.tls.existingSecret)) -}}
{{- end -}}
{{- with concat $volumes .values.extraVolumes -}}
volumes:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Arguments: root, values (the component's). */}}
{{- define "punctual.container" -}}
image: {{ include "punctual.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- include "punctual.containerSecurity" . | nindent 2 }}
{{- end -}}

{{/*
The probes of a component. Alive is whoever answers; Redis being away is no reason to restart. Starting waits for Redis,
which may have a long log to load. Arguments: values (the component's), readiness (how it is probed).
*/}}
{{- define "punctual.probes" -}}
{{- $healthz := dict "httpGet" (dict "path" "/healthz" "port" "ops") -}}
startupProbe:
  {{- include "punctual.merged" (list $healthz (dict "periodSeconds" 2 "failureThreshold" 60) .values.startupProbe) | nindent 2 }}
livenessProbe:
  {{- include "punctual.merged" (list $healthz (dict "periodSeconds" 10 "timeoutSeconds" 3 "failureThreshold" 6) .values.livenessProbe) | nindent 2 }}
readinessProbe:
  {{- include "punctual.merged" (list .readiness .values.readinessProbe) | nindent 2 }}
{{- end -}}
