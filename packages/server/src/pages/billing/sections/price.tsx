import type { FC } from 'hono/jsx'
import type { Plan } from '../../../config/settings.ts'
import { usePage } from '../../parts/layout.tsx'
import { formatInterval, formatTotal } from '../model/plans.ts'

/** The price of a billing period and its calculation: `$30.00 per month (3 × $10.00)`. */
export const Price: FC<{ plan: Plan; quantity: number }> = ({ plan, quantity }) => {
  const { service, t } = usePage()
  const { settings } = service.config
  return (
    <>
      {formatTotal(plan, quantity, settings, t)} <small>{formatInterval(plan, t)}</small>
      {quantity > 1 && (
        <small> {t('price.times', { quantity, price: formatTotal(plan, 1, settings, t) })}</small>
      )}
    </>
  )
}
