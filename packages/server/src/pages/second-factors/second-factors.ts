import type { Hono } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { addRequiredSetUp } from './required-set-up.tsx'
import { addSecondStep } from './second-step.tsx'
import { addSecurity } from './security.tsx'

/** Adds the pages of second factors. Call it only if the setting `secondFactor` is not `off`. */
export function addSecondFactors(app: Hono<AppEnv>): void {
  addSecondStep(app)
  addRequiredSetUp(app)
  addSecurity(app)
}
