import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { addReceivedWebhookPages } from './received.tsx'
import { addSentWebhookPages } from './sent.tsx'

/** Adds the pages of webhooks, received and sent. */
export function addWebhookPages(app: Hono<AppEnv>): void {
  addReceivedWebhookPages(app)
  addSentWebhookPages(app)
}
