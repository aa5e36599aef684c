import type { FC } from 'hono/jsx'
import type { Plan, Settings } from '../../../config/settings.ts'
import { formatRhythm, formatTotal } from '../model/plans.ts'

/** The total of a period, and how it comes about: `$30.00 per month (3 × $10.00)`. */
export const Price: FC<{ plan: Plan; quantity: number; settings: Settings }> = (props) => {
  const { plan, quantity, settings } = props
  return (
    <>
      {formatTotal(plan, quantity, settings)} <small>{formatRhythm(plan)}</small>
      {quantity > 1 && (
        <small>
          {' '}
          ({quantity} × {formatTotal(plan, 1, settings)})
        </small>
      )}
    </>
  )
}
