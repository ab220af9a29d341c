import { API_VERSION } from '../../resources/resource.ts'
import type { ResourceKind } from '../client/resource-path.ts'

const kindOf = (kind: string, plural: string): ResourceKind => ({ apiVersion: API_VERSION, kind, plural })

export const HTTP_QUEUES = kindOf('HttpQueue', 'httpqueues')
export const HTTP_CRONS = kindOf('HttpCron', 'httpcrons')
export const TEAM_SETTINGS = kindOf('TeamSettings', 'teamsettings')
export const API_TOKENS = kindOf('ApiToken', 'apitokens')
export const MAINTENANCE_WINDOWS = kindOf('MaintenanceWindow', 'maintenancewindows')
