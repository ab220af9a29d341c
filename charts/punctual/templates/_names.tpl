{{/* The name everything is called after: the release's, with the chart's unless that is part of it. */}}
{{- define "punctual.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "punctual" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-punctual" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels that find the pods of one component. Arguments: root, component. */}}
{{- define "punctual.selector" -}}
app.kubernetes.io/name: punctual
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* The labels of every object. Arguments: root, component (may be absent). */}}
{{- define "punctual.labels" -}}
{{- with .root.Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
app.kubernetes.io/name: punctual
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Arguments: root, and an image's repository, tag and digest. A registry of the repository gives way to imageRegistry. */}}
{{- define "punctual.imageName" -}}
{{- $repository := .repository -}}
{{- with .root.Values.imageRegistry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $repository "") -}}
{{- end -}}
{{- if .digest -}}
{{ $repository }}@{{ .digest }}
{{- else -}}
{{ $repository }}:{{ .tag }}
{{- end -}}
{{- end -}}

{{- define "punctual.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- include "punctual.imageName" (dict "root" . "repository" .Values.image.repository "tag" $tag "digest" .Values.image.digest) -}}
{{- end -}}

{{/* The ServiceAccount of a component's pods. Arguments: root, component, values (the component's). */}}
{{- define "punctual.serviceAccountName" -}}
{{- with .values.serviceAccount -}}
{{- if not (or .create .name) -}}
{{- fail (printf "%s.serviceAccount: give the name of the one that is there, or let the chart create one" (ternary "redis.bundled" $.component (eq $.component "redis"))) -}}
{{- end -}}
{{- .name | default (printf "%s-%s" (include "punctual.fullname" $.root) $.component) -}}
{{- end -}}
{{- end -}}

{{/* "true" when the chart brings its own Redis. */}}
{{- define "punctual.hasBundledRedis" -}}
{{- with .Values.redis.external -}}
{{- if and .url .existingSecret -}}
{{- fail "redis.external: give url or existingSecret, not both" -}}
{{- end -}}
{{- if not (or .url .existingSecret) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* Name and key of each Secret: the one that is there already, or the chart's. */}}
{{- define "punctual.tokenSecret" -}}
name: {{ .Values.token.existingSecret | default (printf "%s-token" (include "punctual.fullname" .)) }}
key: {{ ternary .Values.token.existingSecretKey "token" (ne .Values.token.existingSecret "") }}
{{- end -}}
{{- define "punctual.keySecret" -}}
name: {{ .Values.secretsKey.existingSecret | default (printf "%s-key" (include "punctual.fullname" .)) }}
key: {{ ternary .Values.secretsKey.existingSecretKey "secrets-key" (ne .Values.secretsKey.existingSecret "") }}
{{- end -}}
{{- define "punctual.otherKeysSecret" -}}
name: {{ .Values.secretsKey.existingSecret | default (printf "%s-key" (include "punctual.fullname" .)) }}
key: other-secrets-keys
{{- end -}}
{{- define "punctual.redisPasswordSecret" -}}
{{- with .Values.redis.bundled -}}
name: {{ .existingSecret | default (printf "%s-redis" (include "punctual.fullname" $)) }}
key: {{ ternary .existingSecretKey "password" (ne .existingSecret "") }}
{{- end -}}
{{- end -}}

{{/*
"true" where the API and the executors have users of the bundled Redis. By default they have where the chart itself makes
the password and the rights to make more: elsewhere an upgrade would need a right that nobody has given.
*/}}
{{- define "punctual.hasRedisUsers" -}}
{{- $own := and .Values.rbac.create (not .Values.redis.bundled.existingSecret) -}}
{{- if and (include "punctual.hasBundledRedis" .) (kindIs "invalid" .Values.redis.bundled.users.enabled | ternary $own .Values.redis.bundled.users.enabled) -}}
true
{{- end -}}
{{- end -}}

{{/* The Secret with the password of a role's user in the bundled Redis. Arguments: root, component. */}}
{{- define "punctual.redisUserSecret" -}}
name: {{ include "punctual.fullname" .root }}-redis-{{ .component }}
key: password
{{- end -}}

{{/*
Variables that tell `prepare` which Secrets to make: those that are not yours. None of them is part of the release: what
is rendered holds nothing random, and an uninstall leaves them, as it does the data they open.
*/}}
{{- define "punctual.makeEnv" -}}
{{- if and .Values.token.enabled (not .Values.token.existingSecret) }}
{{- with include "punctual.tokenSecret" . | fromYaml }}
- name: PUNCTUAL_MAKE_TOKEN
  value: {{ .name }}/{{ .key }}
{{- end }}
{{- end }}
{{- if not .Values.secretsKey.existingSecret }}
{{- with include "punctual.keySecret" . | fromYaml }}
- name: PUNCTUAL_MAKE_SECRETS_KEY
  value: {{ .name }}/{{ .key }}
{{- end }}
{{- end }}
{{- if include "punctual.hasRedisUsers" . }}
{{- range $component := list "api" "executor" }}
{{- with include "punctual.redisUserSecret" (dict "root" $ "component" $component) | fromYaml }}
- name: PUNCTUAL_MAKE_REDIS_{{ upper $component }}_PASSWORD
  value: {{ .name }}/{{ .key }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (include "punctual.hasBundledRedis" .) (not .Values.redis.bundled.existingSecret) }}
{{- with include "punctual.redisPasswordSecret" . | fromYaml }}
- name: PUNCTUAL_MAKE_REDIS_PASSWORD
  value: {{ .name }}/{{ .key }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The team of the first token, as the controller decides it. */}}
{{- define "punctual.firstTeam" -}}
{{- if or (not .Values.watchNamespaces) (has .Release.Namespace .Values.watchNamespaces) -}}
{{ .Release.Namespace }}
{{- else -}}
{{ first .Values.watchNamespaces }}
{{- end -}}
{{- end -}}

{{/* "true" when `helm test` has what it needs. */}}
{{- define "punctual.hasTest" -}}
{{- if and .Values.tests.enabled .Values.token.enabled -}}true{{- end -}}
{{- end -}}

{{/* The Service that `helm test` calls, and the name jobs may call it by. */}}
{{- define "punctual.testTarget" -}}
{{ include "punctual.fullname" . }}-test.{{ .Release.Namespace }}.svc
{{- end -}}

{{/* Which tokens of the cluster the API takes: jwt, any or off. */}}
{{- define "punctual.userTokens" -}}
{{- .Values.kubernetesUsers.tokens | default (ternary "off" "jwt" (gt (len .Values.watchNamespaces) 0)) -}}
{{- end -}}

{{/* "true" when people log in at a provider. */}}
{{- define "punctual.hasOidc" -}}
{{- with .Values.oidc -}}
{{- if .issuer -}}
{{- if not (and .clientId .existingSecret $.Values.publicUrl) -}}
{{- fail "oidc: give issuer, clientId, existingSecret and publicUrl, or no issuer" -}}
{{- end -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{/* "true" when RBAC says what people may do, so that the API asks the API server. */}}
{{- define "punctual.asksForRights" -}}
{{- if or (ne (include "punctual.userTokens" .) "off") (and (include "punctual.hasOidc" .) (not .Values.oidc.groupRoles)) -}}
true
{{- end -}}
{{- end -}}

{{/* What the API speaks. */}}
{{- define "punctual.apiScheme" -}}
{{- if .Values.api.tls.existingSecret }}https{{ else }}http{{ end -}}
{{- end -}}

{{/* The path below which browsers find the API and the dashboard; empty at the root. */}}
{{- define "punctual.basePath" -}}
{{- $ofUrl := "" -}}
{{- with .Values.publicUrl -}}
{{- $ofUrl = (urlParse .).path | trimSuffix "/" -}}
{{- end -}}
{{- $own := .Values.dashboard.basePath -}}
{{- if and $own .Values.publicUrl (ne $own $ofUrl) -}}
{{- fail "dashboard.basePath: must be the path of publicUrl, or empty" -}}
{{- end -}}
{{- $path := $own | default $ofUrl -}}
{{- if or (regexMatch "^/(api|assets|echo)(/|$)" $path) (not (regexMatch "^((/[A-Za-z0-9][A-Za-z0-9_.~-]*){1,8})?$" $path)) -}}
{{- fail (printf "dashboard.basePath, publicUrl: %s cannot be the base path; a path such as /punctual can, that does not begin with /api, /assets or /echo" $path) -}}
{{- end -}}
{{- $path -}}
{{- end -}}
