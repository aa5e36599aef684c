import type { Context, Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { requireUser } from '../../parts/page-context.ts'
import { describeProblem } from '../model/problems.ts'
import { renderBilling } from './billing.tsx'

type Show = (c: Context<AppEnv>) => Response | Promise<Response>

/** What the signed-in person opens. What cannot be shown is said on the billing page. */
export function addPage(app: Hono<AppEnv>, path: string, show: Show): void {
  app.get(path, requireUser(), (c) => orProblem(c, show))
}

/** The response, or the billing page with the reason why there is none. */
export async function orProblem(c: Context<AppEnv>, show: Show): Promise<Response> {
  try {
    return await show(c)
  } catch (error) {
    const problem = describeProblem(error)
    if (!problem) throw error
    return renderBilling(c, { problem })
  }
}
