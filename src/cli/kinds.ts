import { ALERT_FILTERS, addCounts, addDelete, addRead } from './alerts/alert-commands.ts'
import { addMute } from './alerts/mute-command.ts'
import { addMuteOptions, ISSUE_FILTERS, muteFields } from './alerts/issue-commands.ts'
import { ISSUE_LIST, ISSUE_PAGE } from './alerts/issue-text.ts'
import { addChannelTest } from './alerts/notification-commands.ts'
import { ALERT_LIST, ALERT_PAGE } from './alerts/alert-text.ts'
import { SECRET_LIST, CREATED_SECRET } from './access/secret-text.ts'
import * as channel from './alerts/channel-body.ts'
import { CHANNEL_LIST, CHANNEL_PAGE } from './alerts/channel-text.ts'
import { addEndAll, addTeamSessions } from './access/session-commands.ts'
import { SESSION_LIST } from './access/session-text.ts'
import * as token from './access/token-body.ts'
import { CREATED_TOKEN, TOKEN_LIST } from './access/token-text.ts'
import { CRON_ARGUMENT, plainId, QUEUE_ARGUMENT } from './connection/given-ids.ts'
import { cronIdOf, queueIdOf } from './connection/named-ids.ts'
import * as cron from './crons/cron-body.ts'
import { addPreview, deletionOfCron } from './crons/cron-commands.ts'
import { CREATED_CRON, CRON_LIST, CRON_PAGE, RUN_LIST, STARTED_RUN } from './crons/cron-text.ts'
import { addCreate as addBulkCreate, resumptionOf } from './jobs/bulk/bulk-commands.ts'
import { BULK_LIST, BULK_PAGE } from './jobs/bulk/bulk-text.ts'
import { act, create, edit, type Kind, list, remove, show } from './kind-commands.ts'
import { deletionOfQueue, purgeOfQueue } from './queues/queue-questions.ts'
import * as queue from './queues/queue-edit.ts'
import { QUEUE_FILTERS } from './queues/queue-filters.ts'
import { EDITED_QUEUE, QUEUE_LIST, QUEUE_PAGE, QUEUE_STATE } from './queues/queue-text.ts'
import * as window from './windows/window-body.ts'
import { WINDOW_LIST, WINDOW_PAGE } from './windows/window-text.ts'

export const BULKS: Kind = {
  group: 'bulk',
  does: 'do one action to many jobs',
  noun: 'bulk',
  verbs: [
    list('listBulks', { does: 'list bulks, newest first', view: BULK_LIST }),
    show('readBulk', {
      does: 'show a bulk, its progress, and the jobs that it could not act on',
      view: BULK_PAGE,
    }),
    addBulkCreate,
    act('abort', 'abortBulk', { does: 'stop a bulk early; what it has done stays done', view: BULK_PAGE }),
    act('resume', 'resumeBulk', {
      does: 'go on with what is left of a bulk that was aborted or has stopped',
      view: BULK_PAGE,
      question: resumptionOf,
    }),
  ],
}

export const QUEUES: Kind = {
  group: 'queues',
  does: 'list and manage queues',
  noun: 'queue',
  argument: QUEUE_ARGUMENT,
  idOf: queueIdOf,
  verbs: [
    list('listQueues', {
      does: 'list queues, what waits in them and what has failed of late',
      view: QUEUE_LIST,
      filters: QUEUE_FILTERS,
    }),
    show('readQueue', {
      does: 'show a queue, its settings and how many jobs it holds',
      view: QUEUE_PAGE,
      isVersioned: true,
    }),
    show('readQueueState', {
      verb: 'state',
      does: 'say who paused or drained a queue, when and why, and how late it is',
      view: QUEUE_STATE,
    }),
    create('createQueue', {
      args: '<name>',
      does: 'create a queue with settings of its own; a push to a new name makes one with the defaults',
      options: queue.addEditOptions,
      fields: queue.newFields,
      view: EDITED_QUEUE,
    }),
    edit('editQueue', {
      does: 'change the given settings of a queue, for new jobs',
      read: 'readQueue',
      options: queue.addEditOptions,
      fields: queue.editedFields,
      view: EDITED_QUEUE,
    }),
    act('pause', 'pauseQueue', {
      does: 'start no more jobs of a queue; those in flight end normally',
      options: queue.addReason,
      fields: queue.reasonFields,
      view: QUEUE_PAGE,
    }),
    act('drain', 'drainQueue', {
      does: 'take no new jobs in a queue, and let the rest run',
      options: queue.addReason,
      fields: queue.reasonFields,
      view: QUEUE_PAGE,
    }),
    act('resume', 'resumeQueue', { does: 'end a pause or a drain', view: QUEUE_PAGE }),
    act('purge', 'purgeQueue', {
      does: 'delete the dead letters of a queue, by a bulk; this cannot be undone',
      view: BULK_PAGE,
      question: purgeOfQueue,
    }),
    remove('deleteQueue', {
      does: 'delete a queue with all its jobs; this cannot be undone',
      question: deletionOfQueue,
    }),
  ],
}

export const CRONS: Kind = {
  group: 'crons',
  does: 'list and manage crons',
  noun: 'cron',
  argument: CRON_ARGUMENT,
  idOf: cronIdOf,
  verbs: [
    list('listCrons', { does: 'list crons', view: CRON_LIST }),
    show('readCron', {
      does: 'show a cron with its next and its last run',
      view: CRON_PAGE,
      isVersioned: true,
    }),
    list('listCronRuns', {
      verb: 'runs',
      does: 'list the last ticks and runs of a cron',
      view: RUN_LIST,
    }),
    addPreview,
    create('createCron', {
      args: '[name] [expression] [url]',
      does: 'create a cron; the expression has five fields, such as "0 9 * * MON-FRI"',
      options: cron.addCreateOptions,
      fields: cron.newFields,
      view: CREATED_CRON,
    }),
    edit('editCron', {
      does: 'change the given settings of a cron',
      read: 'readCron',
      options: cron.addEditOptions,
      fields: cron.editedFields,
      view: CRON_PAGE,
    }),
    act('run', 'runCron', { does: 'run a cron now, in addition to its ticks', view: STARTED_RUN }),
    act('pause', 'pauseCron', { does: 'pause a cron', view: CRON_PAGE }),
    act('resume', 'resumeCron', { does: 'resume a cron', view: CRON_PAGE }),
    remove('deleteCron', {
      does: 'delete a cron; its runs in flight end normally',
      question: deletionOfCron,
    }),
  ],
}

export const WINDOWS: Kind = {
  group: 'windows',
  does: 'list, create, change and delete maintenance windows',
  noun: 'window',
  verbs: [
    list('listWindows', { does: 'list maintenance windows by name', view: WINDOW_LIST }),
    show('readWindow', { does: 'show a maintenance window', view: WINDOW_PAGE, isVersioned: true }),
    create('createWindow', {
      does: 'create a window: --for 2h from now on, or with --from, --until or --every',
      options: window.addCreateOptions,
      fields: window.newFields,
      view: WINDOW_PAGE,
    }),
    edit('editWindow', {
      does: 'change the given settings of a window, also while it is active',
      read: 'readWindow',
      options: window.addEditOptions,
      fields: window.editedFields,
      view: WINDOW_PAGE,
    }),
    remove('deleteWindow', { does: 'delete a maintenance window; one that is active ends' }),
  ],
}

export const ALERTS: Kind = {
  group: 'alerts',
  does: 'list alerts, mute, mark them as read and delete them',
  noun: 'alert',
  verbs: [
    list('listAlerts', { does: 'list alerts, newest first', view: ALERT_LIST, filters: ALERT_FILTERS }),
    show('readAlert', { does: 'show an alert and who was told of it', view: ALERT_PAGE }),
    addCounts,
    addMute,
    addRead,
    addDelete,
  ],
}

export const ISSUES: Kind = {
  group: 'issues',
  does: 'list failures in groups, and acknowledge, mute or resolve them',
  noun: 'issue',
  verbs: [
    list('listIssues', {
      does: 'list issues; those that failed last come first',
      view: ISSUE_LIST,
      filters: ISSUE_FILTERS,
    }),
    show('readIssue', { does: 'show an issue, with its failures by the hour', view: ISSUE_PAGE }),
    act('acknowledge', 'acknowledgeIssue', {
      does: 'say that somebody looks after an issue',
      view: ISSUE_PAGE,
    }),
    act('mute', 'muteIssue', {
      does: 'mute an issue: --for 2h, or --until a time',
      options: addMuteOptions,
      fields: muteFields,
      view: ISSUE_PAGE,
    }),
    act('resolve', 'resolveIssue', { does: 'say that an issue is mended', view: ISSUE_PAGE }),
    act('reopen', 'reopenIssue', {
      does: 'reopen an issue that is acknowledged, muted or resolved',
      view: ISSUE_PAGE,
    }),
  ],
}

export const CHANNELS: Kind = {
  group: 'channels',
  does: 'list, create, change, test and delete the channels that tell of alerts',
  noun: 'channel',
  argument: ['<channel>', 'its name, or channel/<name>', (text) => plainId('channel', text)],
  verbs: [
    list('listNotificationChannels', {
      does: 'list channels, without their URLs',
      view: CHANNEL_LIST,
      isWhole: true,
    }),
    create('createNotificationChannel', {
      args: '<name>',
      does: 'create a channel, which is kept only if it takes a test message',
      options: channel.addCreateOptions,
      fields: channel.newFields,
      view: CHANNEL_PAGE,
    }),
    act('edit', 'editNotificationChannel', {
      does: 'change which alerts a channel gets',
      options: channel.addEditOptions,
      fields: channel.editedFields,
      view: CHANNEL_PAGE,
    }),
    addChannelTest,
    remove('deleteNotificationChannel', { does: 'delete a channel; it is told of no more alerts' }),
  ],
}

export const TOKENS: Kind = {
  group: 'tokens',
  does: 'list, create and revoke tokens of the API',
  noun: 'token',
  argument: ['<name>', 'its name, or token/<name>', (text) => plainId('token', text)],
  verbs: [
    list('listTokens', { does: 'list tokens by name, without the tokens themselves', view: TOKEN_LIST }),
    create('createToken', {
      args: '<name>',
      does: 'create a token, which is shown once; without options it may do all that yours may',
      options: token.addCreateOptions,
      fields: token.newFields,
      view: CREATED_TOKEN,
    }),
    remove('deleteToken', {
      verb: 'revoke',
      does: 'revoke a token, which every API refuses within 2 s',
      said: 'revoked',
    }),
  ],
}

export const SECRETS: Kind = {
  group: 'secrets',
  does: 'list, create and delete signing secrets',
  noun: 'signing-secret',
  verbs: [
    list('listSigningSecrets', {
      does: 'list signing secrets, newest first, without their values',
      view: SECRET_LIST,
      isWhole: true,
    }),
    create('createSigningSecret', {
      does: 'create a signing secret, which is shown once; the former one signs beside it',
      view: CREATED_SECRET,
    }),
    remove('deleteSigningSecret', {
      does: 'delete a signing secret; without any other, calls go out unsigned',
    }),
  ],
}

export const SESSIONS: Kind = {
  group: 'sessions',
  does: 'list where you are logged in, and end sessions',
  noun: 'session',
  verbs: [
    list('listSessions', {
      does: 'list your sessions in browsers, the one that was used last first',
      view: SESSION_LIST,
      isWhole: true,
    }),
    remove('endOneSession', {
      verb: 'end',
      does: 'end one of your sessions: its browser has to log in again',
      said: 'ended',
    }),
    addTeamSessions,
    addEndAll,
  ],
}
