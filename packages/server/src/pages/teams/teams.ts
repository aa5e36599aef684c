import type { Hono } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { addTeamBillingPages } from '../billing/billing.ts'
import { addTeamActionRoutes } from './acts.tsx'
import { addJoinTeamPage } from './join.tsx'
import { addTeamListPage } from './list.tsx'
import { addTeamPage } from './team-page.tsx'

/** Adds the pages about teams. Call it only if the setting `teams` is on. */
export function addAllTeamPages(app: Hono<AppEnv>): void {
  addTeamListPage(app)
  addJoinTeamPage(app)
  addTeamPage(app)
  addTeamActionRoutes(app)
  addTeamBillingPages(app)
}
