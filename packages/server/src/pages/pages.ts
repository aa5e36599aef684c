import type { Hono } from 'hono'
import type { ServiceContext } from '../context.ts'
import type { AppEnv } from '../http/variables.ts'
import { addAccount } from './account.tsx'
import { addAccountDelete } from './account-delete.tsx'
import { addAccountExport } from './account-export.tsx'
import { addAdmin } from './admin/admin.ts'
import { addApplications } from './applications.tsx'
import { addBilling } from './billing/billing.ts'
import { addClient } from './client.tsx'
import { addClients } from './clients.tsx'
import { addDemoApplication } from './demo-application.tsx'
import { addHome } from './home.tsx'
import { addLinks } from './links.tsx'
import { addRecovery } from './recovery/recovery.tsx'
import { addRegister } from './register.tsx'
import { addSecondFactors } from './second-factors/second-factors.ts'
import { addSessions } from './sessions.tsx'
import { addSignIn } from './sign-in.tsx'
import { addSignInWith } from './sign-in-with.tsx'
import { addTeams } from './teams/teams.ts'
import { addTokens } from './tokens.tsx'

/** Adds the routes of all pages. */
export function addPages(app: Hono<AppEnv>, context: ServiceContext): void {
  addSignIn(app)
  if (context.config.settings.registration === 'open') addRegister(app)
  if (context.recovery.hasMail) addRecovery(app, context)
  if (context.config.settings.secondFactor !== 'off') addSecondFactors(app)
  addHome(app)
  addAccount(app)
  addSignInWith(app)
  addLinks(app)
  addAccountExport(app)
  if (context.config.settings.accountDeletion) addAccountDelete(app)
  addSessions(app)
  addClients(app)
  addClient(app)
  addTokens(app)
  addApplications(app)
  addBilling(app, context)
  if (context.config.settings.teams !== false) addTeams(app)
  addAdmin(app)
  if (context.demo) addDemoApplication(app, context.demo)
}
