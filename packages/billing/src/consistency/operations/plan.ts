import { isFinal } from '../../errors.ts'
import { converge, store } from '../converge.ts'
import { finish } from '../operation.ts'
import { decidePlan } from '../plans/decide-plan.ts'
import { planKept } from '../plans/plan-kept.ts'
import type { Resume } from './resume.ts'

/** A swap that stands at the provider, and whose planner never heard of it; or one that a change was to keep. */
export const plan: Resume = async (context, locked, operation) => {
  const { provider, of: id } = operation.request
  const of = String(id)
  const found = await (await locked.gateway(provider)).findSubscription(of)
  if (found) await store(context, locked, provider, found)
  const verdict = decidePlan(operation, found, context.options.clock.now())
  if (verdict === 'wait') return
  if (verdict === 'plan') {
    await planKept(locked, operation).catch((error) => {
      // What the provider refuses cannot be kept, and stands in nobody's way.
      if (!isFinal(error)) throw error
    })
    await converge(context, locked, { provider, providerId: of })
  }
  await finish(context, locked, operation)
}
