import type { Resume } from '../../core/context.ts'
import { converge, store } from '../../core/converge.ts'
import { isFinal } from '../../core/errors/errors.ts'
import { finish } from '../../core/operation.ts'
import { applyStoredPlan } from './apply-stored-plan.ts'
import { decidePlan } from './decide-plan.ts'

/**
 * Finishes a stored plan after a crash: one that may already exist at the provider, or one that had
 * to survive another change.
 */
export const resumePlan: Resume = async (context, locked, operation) => {
  const { provider, of: id } = operation.request
  const of = String(id)
  const found = await (await locked.gateway(provider)).findSubscription(of)
  if (found) await store(context, locked, provider, found)
  const verdict = decidePlan(operation, found, context.options.clock.now())
  if (verdict === 'wait') return
  if (verdict === 'plan') {
    await applyStoredPlan(locked, operation).catch((error) => {
      // A plan that the provider rejects is dropped, so that it blocks nothing.
      if (!isFinal(error)) throw error
    })
    await converge(context, locked, { provider, providerId: of })
  }
  await finish(context, locked, operation)
}
