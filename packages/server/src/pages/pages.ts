import type { Hono } from 'hono'
import type { ServiceContext } from '../context.ts'
import type { AppEnv } from '../http/variables.ts'
import { addBilling } from './billing/billing.tsx'
import { addHome } from './home.tsx'
import { addOverview } from './overview/overview.tsx'
import { addRegister } from './register.tsx'
import { addSignIn } from './sign-in.tsx'

/** Every page. Each module adds its own addresses. */
export function addPages(app: Hono<AppEnv>, context: ServiceContext): void {
  addSignIn(app)
  if (context.config.settings.registration) addRegister(app)
  addHome(app)
  addBilling(app, context)
  addOverview(app)
}
