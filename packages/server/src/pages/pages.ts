import type { Hono } from 'hono'
import type { ServiceContext } from '../context.ts'
import type { AppEnv } from '../http/variables.ts'
import { addAccountPage } from './account.tsx'
import { addAccountDeletionPage } from './account-delete.tsx'
import { addAccountExportPage } from './account-export.tsx'
import { addAdminPages } from './admin/admin.ts'
import { addApplicationsPage } from './applications.tsx'
import { addOwnBillingPages } from './billing/billing.ts'
import { addOwnClientPage } from './client.tsx'
import { addOwnClientsPage } from './clients.tsx'
import { addDemoApplication } from './demo-application.tsx'
import { addHomePage } from './home.tsx'
import { addLinkedAccountsPage } from './links.tsx'
import { addRecoveryPages } from './recovery/recovery.tsx'
import { addRegistrationPage } from './register.tsx'
import { addSecondFactorPages } from './second-factors/second-factors.ts'
import { addSessionPages } from './sessions.tsx'
import { addSignInPage } from './sign-in.tsx'
import { addSignInWithRoutes } from './sign-in-with.tsx'
import { addAllTeamPages } from './teams/teams.ts'
import { addTokenPage } from './tokens.tsx'

/** Adds the routes of all pages. */
export function addPages(app: Hono<AppEnv>, context: ServiceContext): void {
  addSignInPage(app)
  if (context.config.settings.registration === 'open') addRegistrationPage(app)
  if (context.recovery.hasMail) addRecoveryPages(app, context)
  if (context.config.settings.secondFactor !== 'off') addSecondFactorPages(app)
  addHomePage(app)
  addAccountPage(app)
  addSignInWithRoutes(app)
  addLinkedAccountsPage(app)
  addAccountExportPage(app)
  if (context.config.settings.accountDeletion) addAccountDeletionPage(app)
  addSessionPages(app)
  addOwnClientsPage(app)
  addOwnClientPage(app)
  addTokenPage(app)
  addApplicationsPage(app)
  addOwnBillingPages(app, context)
  if (context.config.settings.teams !== false) addAllTeamPages(app)
  addAdminPages(app)
  if (context.demo) addDemoApplication(app, context.demo)
}
