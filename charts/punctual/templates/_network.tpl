{{- define "punctual.toDns" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns | nindent 4 }}
  ports:
    {{- range .Values.networkPolicy.dnsPorts }}
    - protocol: UDP
      port: {{ . }}
    - protocol: TCP
      port: {{ . }}
    {{- end }}
{{- end -}}

{{- define "punctual.toRedis" -}}
{{- if include "punctual.hasBundledRedis" . -}}
- to:
    - podSelector:
        matchLabels:
          {{- include "punctual.selector" (dict "root" . "component" "redis") | nindent 10 }}
  ports:
    - protocol: TCP
      port: 6379
{{- else -}}
- ports:
    {{- range include "punctual.redisPorts" . | splitList "\n" }}
    - protocol: TCP
      port: {{ . }}
    {{- end }}
  {{- with .Values.redis.external.cidrs }}
  to:
    {{- range . }}
    - ipBlock:
        cidr: {{ . }}
    {{- end }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* The API server's address is no pod's and differs by cluster: the port must do. */}}
{{- define "punctual.toApiServer" -}}
- ports:
    {{- range .Values.networkPolicy.apiServerPorts }}
    - protocol: TCP
      port: {{ . }}
    {{- end }}
{{- end -}}

{{- define "punctual.fromProbesAndScrapes" -}}
- ports:
    - protocol: TCP
      port: 9090
  {{- with .Values.networkPolicy.opsFrom }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Arguments: root, component, ingress, egress. */}}
{{- define "punctual.policy" -}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "punctual.fullname" .root }}-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "punctual.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "punctual.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    {{- .ingress | nindent 4 }}
  {{- with .egress }}
  egress:
    {{- . | nindent 4 }}
  {{- end }}
{{ end -}}

{{- define "punctual.fromClients" -}}
- ports:
    - protocol: TCP
      port: 8080
  {{- with .Values.networkPolicy.apiFrom }}
  from:
    {{- toYaml . | nindent 4 }}
    # For helm test.
    - podSelector:
        matchLabels:
          {{- include "punctual.selector" (dict "root" $ "component" "test") | nindent 10 }}
  {{- end }}
{{- end }}

{{/* The OIDC provider, where the API checks logins. */}}
{{- define "punctual.toOidc" -}}
{{- if include "punctual.hasOidc" . }}
- ports:
    - protocol: TCP
      port: {{ .Values.oidc.port }}
  {{- with .Values.oidc.cidrs }}
  to:
    {{- range . }}
    - ipBlock:
        cidr: {{ . }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Calls go where the installation says; the egress guard in the executors has the same rules, and this is the wall behind it. */}}
{{- define "punctual.toTargets" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        {{- $ipv4 := list }}
        {{- $ipv6 := list }}
        {{- range concat .Values.networkPolicy.blockedCidrs .Values.egress.clusterCidrs | uniq }}
        {{- if contains ":" . }}{{ $ipv6 = append $ipv6 . }}{{ else }}{{ $ipv4 = append $ipv4 . }}{{ end }}
        {{- end }}
        except:
          {{- toYaml $ipv4 | nindent 10 }}
    - ipBlock:
        cidr: ::/0
        except:
          {{- toYaml $ipv6 | nindent 10 }}
{{- range .Values.egress.allow }}
{{- $block := regexReplaceAll "^.*=" . "" }}
{{- $port := "" }}
{{- if regexMatch "(/[0-9]+|^[0-9.]+):[0-9]+$" $block }}
{{- $port = regexFind "[0-9]+$" $block }}
{{- $block = regexReplaceAll ":[0-9]+$" $block "" }}
{{- end }}
{{- if regexMatch "^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+$" $block }}
{{- $block = printf "%s/32" $block }}
{{- else if and (contains ":" $block) (regexMatch "^[0-9a-fA-F.:]+$" $block) (not (regexMatch "^[^:]*:[0-9]+$" $block)) }}
{{- $block = printf "%s/128" $block }}
{{- end }}
{{- if regexMatch "^[0-9a-fA-F.:]+/[0-9]+$" $block }}
- to:
    - ipBlock:
        cidr: {{ $block }}
  {{- with $port }}
  ports:
    - protocol: TCP
      port: {{ . }}
  {{- end }}
{{- end }}
{{- end }}
{{- if include "punctual.hasTest" . }}
- to:
    - podSelector:
        matchLabels:
          {{- include "punctual.selector" (dict "root" . "component" "test") | nindent 10 }}
  ports:
    - protocol: TCP
      port: 8080
{{- end }}
{{- with .Values.notifications.smtp }}
{{- if .existingSecret }}
- ports:
    - protocol: TCP
      port: {{ .port }}
  {{- with .cidrs }}
  to:
    {{- range . }}
    - ipBlock:
        cidr: {{ . }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
{{- include "punctual.toTracing" . }}
{{- include "punctual.furtherEgress" .Values.networkPolicy.executorEgress }}
{{- end }}

{{/* The tracing system, on lines of its own; nothing without one. */}}
{{- define "punctual.toTracing" }}
{{- with .Values.tracing }}
{{- if .endpoint }}
- ports:
    - protocol: TCP
      port: {{ .port }}
  {{- with .cidrs }}
  to:
    {{- range . }}
    - ipBlock:
        cidr: {{ . }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Rules of yours, on lines of their own. Argument: the list. */}}
{{- define "punctual.furtherEgress" }}
{{- with . }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "punctual.fromOurPods" -}}
- from:
    - podSelector:
        matchLabels:
          app.kubernetes.io/name: punctual
          app.kubernetes.io/instance: {{ .Release.Name }}
        matchExpressions:
          - key: app.kubernetes.io/component
            operator: In
            values: [controller, api, executor]
  ports:
    - protocol: TCP
      port: 6379
{{- if .Values.redis.bundled.exporter.enabled }}
- ports:
    - protocol: TCP
      port: 9121
  {{- with .Values.networkPolicy.opsFrom }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
