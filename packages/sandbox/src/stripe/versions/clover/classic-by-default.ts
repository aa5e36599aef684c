import type { FormObject } from '../../wire/form.ts'
import { partOf } from '../basics/form-fields.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** Whoever named no billing mode got the classic one; since clover it is the flexible one. */
export const classicByDefault: VersionChange = {
  since: '2025-09-30',
  name: 'classic-by-default',
  params: {
    'Subscriptions.create': billClassically,
    'SubscriptionSchedules.create'(form) {
      if (form.from_subscription === undefined) billClassically(form)
    },
    'Invoices.createPreview'(form) {
      if (form.subscription !== undefined || form.subscription_details === undefined) return
      billClassically(partOf(form, 'subscription_details'))
    },
    'Checkout/Sessions.create'(form) {
      if (form.mode === 'subscription') billClassically(partOf(form, 'subscription_data'))
    },
  },
}

function billClassically(form: FormObject): void {
  form.billing_mode ??= { type: 'classic' }
}
