import type { FC } from 'hono/jsx'
import type { Plan } from '../../../config/settings.ts'
import { usePage } from '../../parts/layout.tsx'
import { describeAdditional, describeTiers, describeUsage } from '../model/describe-rates.ts'
import { formatInterval, formatTotal } from '../model/plans.ts'

/**
 * The price of a billing period and its calculation: `$30.00 per month (3 × $10.00)`. For a price by
 * quantity or usage, the first rate.
 */
export const Price: FC<{ plan: Plan; quantity: number }> = ({ plan, quantity }) => {
  const { service, t } = usePage()
  const { settings } = service.config
  const { rates, meter } = plan
  if (rates !== null) {
    const [first = ''] =
      meter === null || 'tiers' in rates
        ? describeTiers(rates, settings, t)
        : describeUsage(plan, settings, t)
    return (
      <>
        {first} <small>{formatInterval(plan, t)}</small>
      </>
    )
  }
  return (
    <>
      {formatTotal(plan, quantity, settings, t)} <small>{formatInterval(plan, t)}</small>
      {quantity > 1 && (
        <small> {t('price.times', { quantity, price: formatTotal(plan, 1, settings, t) })}</small>
      )}
    </>
  )
}

/** The text of a plan, its tiers, its additional prices and its features. */
export const PlanTerms: FC<{ plan: Plan }> = ({ plan }) => {
  const { service, t } = usePage()
  const { settings } = service.config
  const { description, features, prices, rates } = plan
  const tiers = rates === null ? [] : describeTiers(rates, settings, t)
  const lines = prices.flatMap((price) => describeAdditional(price, settings, t))
  return (
    <>
      {description && <p>{description}</p>}
      {tiers.length > 1 && <List lines={tiers} />}
      {lines.length > 0 && <List lines={lines} />}
      {features.length > 0 && <List class="features" lines={features} />}
    </>
  )
}

const List: FC<{ lines: readonly string[]; class?: string }> = ({ lines, ...attributes }) => (
  <ul {...attributes}>
    {lines.map((line) => (
      <li>{line}</li>
    ))}
  </ul>
)
