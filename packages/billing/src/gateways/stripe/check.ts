import type { StripeContext } from './sdk/client.ts'
import { isMissing } from './sdk/errors.ts'

/** Asks for something with the key, and for every plan the application names. */
export async function checkStripe({ stripe, options }: StripeContext): Promise<string[]> {
  await stripe.subscriptions.list({ limit: 1 })
  const problems = await Promise.all(
    (options.plans ?? []).map(async (id) => {
      try {
        const { active } = await stripe.prices.retrieve(id)
        return active ? [] : [`Stripe's price '${id}' is archived: nobody can subscribe to it.`]
      } catch (error) {
        if (!isMissing(error)) throw error
        return [`Stripe has no price '${id}': create it, or take it out of stripe.plans.`]
      }
    }),
  )
  return problems.flat()
}
