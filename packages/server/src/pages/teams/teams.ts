import type { Hono } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { addTeamBilling } from '../billing/billing.ts'
import { addTeamActs } from './acts.tsx'
import { addJoin } from './join.tsx'
import { addTeamList } from './list.tsx'
import { addTeamPage } from './team-page.tsx'

/** Adds the pages about teams. Call it only if the setting `teams` is on. */
export function addTeams(app: Hono<AppEnv>): void {
  addTeamList(app)
  addJoin(app)
  addTeamPage(app)
  addTeamActs(app)
  addTeamBilling(app)
}
