import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { addReceived } from './received.tsx'
import { addSent } from './sent.tsx'

/** Adds the pages of webhooks, received and sent. */
export function addWebhooks(app: Hono<AppEnv>): void {
  addReceived(app)
  addSent(app)
}
