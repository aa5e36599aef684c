import type { FC } from 'hono/jsx'
import { PAUSED_INVOICE_BEHAVIORS } from '../../../admin/operations/pauses.ts'
import { Choice } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import type { BillingAction } from './action.tsx'
import { buildSubscriptionInput } from './billing-acts.tsx'
import { DateField, readDate } from './billing-fields.tsx'

/** The acts on the pause of a subscription, by the last part of the URL path. */
export const PAUSE_ACTIONS: Readonly<Record<string, BillingAction>> = {
  pause: {
    operation: 'billing.pause',
    done: 'paused',
    texts: 'people.pause',
    isHarmless: true,
    input: (form, subscription) => ({
      subscription,
      until: form.get('date') ? readDate(form) : null,
      bills: form.get('bills') ?? 'void',
    }),
    decisions: (view) => (
      <>
        <DateField view={view} isOptional />
        <PausedBills chosen={view.form?.get('bills') ?? 'void'} />
      </>
    ),
  },
  unpause: { operation: 'billing.unpause', done: 'unpaused', input: buildSubscriptionInput },
}

const PausedBills: FC<{ chosen: string }> = ({ chosen }) => {
  const { t } = usePage()
  return (
    <fieldset>
      <legend>{t('people.pausedBills')}</legend>
      {PAUSED_INVOICE_BEHAVIORS.map((name) => (
        <Choice
          id={`bills-${name}`}
          type="radio"
          name="bills"
          value={name}
          title={t(`people.pausedBills.${name}`)}
          checked={name === chosen}
        />
      ))}
    </fieldset>
  )
}
