import { type ProviderName, UnknownPlan } from '../errors.ts'
import type { ResolvedOptions } from '../options.ts'

/** Where the application names its plans, any other is refused before a call is made. */
export function requireKnownPlan(
  options: ResolvedOptions,
  provider: ProviderName,
  plan: string,
): void {
  const plans = options[provider]?.plans
  if (!plans || plans.includes(plan)) return
  throw new UnknownPlan(`'${plan}' is none of ${provider}.plans: ${plans.join(', ')}`, {
    provider,
    providerCode: null,
  })
}
