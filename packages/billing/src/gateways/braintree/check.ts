import type { BraintreeContext } from './sdk/client.ts'

/** Whether the discount that carries credit, and every plan the application names, are there. */
export async function checkBraintree({
  gateway,
  planCredit,
  options,
}: BraintreeContext): Promise<string[]> {
  const problems: string[] = []
  const discounts = await gateway.discount.all()
  if (!discounts.some(({ id }) => id === planCredit)) {
    problems.push(
      `Braintree has no discount '${planCredit}': create it under Subscriptions → Discounts with any amount, for one billing cycle. It carries credit when a plan of another frequency is chosen.`,
    )
  }
  const wanted = options.plans ?? []
  if (wanted.length === 0) return problems
  const known = new Set((await gateway.plan.all()).map(({ id }) => id))
  for (const id of wanted.filter((each) => !known.has(each))) {
    problems.push(
      `Braintree has no plan '${id}': create it under Subscriptions → Plans, or take it out of braintree.plans.`,
    )
  }
  return problems
}
