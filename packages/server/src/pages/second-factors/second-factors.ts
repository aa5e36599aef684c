import type { Hono } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { addRequiredSetUpPage } from './required-set-up.tsx'
import { addSecondStepPages } from './second-step.tsx'
import { addSecurityPages } from './security.tsx'

/** Adds the pages of second factors. Call it only if the setting `secondFactor` is not `off`. */
export function addSecondFactorPages(app: Hono<AppEnv>): void {
  addSecondStepPages(app)
  addRequiredSetUpPage(app)
  addSecurityPages(app)
}
