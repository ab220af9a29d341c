import { API_VERSION } from '../../resources/resource.ts'
import type { ResourceKind } from '../client/resource-path.ts'

export const HTTP_QUEUES: ResourceKind = { apiVersion: API_VERSION, kind: 'HttpQueue', plural: 'httpqueues' }
export const HTTP_CRONS: ResourceKind = { apiVersion: API_VERSION, kind: 'HttpCron', plural: 'httpcrons' }
export const TEAM_SETTINGS: ResourceKind = {
  apiVersion: API_VERSION,
  kind: 'TeamSettings',
  plural: 'teamsettings',
}
export const API_TOKENS: ResourceKind = { apiVersion: API_VERSION, kind: 'ApiToken', plural: 'apitokens' }
