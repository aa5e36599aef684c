import { type FormObject, isForm } from '../../wire/form.ts'
import { renameField } from '../basics/form-fields.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** Changes in the API versions named endive, newest first. */
export const ENDIVE_VERSION_CHANGES: readonly VersionChange[] = [
  // A new billing cycle anchor was a string or timestamp; since endive it is an object with a type.
  {
    since: '2026-09-30',
    name: 'anchor-as-object',
    params: {
      'Subscriptions.update': wrapAnchor,
      'Subscriptions.resume': wrapAnchor,
      'Invoices.createPreview'({ subscription_details: details }) {
        if (isForm(details)) wrapAnchor(details)
      },
    },
  },
  // The payment method types of intents and checkout sessions have another parameter name since
  // endive.
  {
    since: '2026-09-30',
    name: 'payment-method-types-param',
    params: {
      'PaymentIntents.create': renameAllowedMethodTypes,
      'PaymentIntents.update': renameAllowedMethodTypes,
      'PaymentIntents.confirm': renameAllowedMethodTypes,
      'SetupIntents.create': renameAllowedMethodTypes,
      'SetupIntents.update': renameAllowedMethodTypes,
      'Checkout/Sessions.create': renameAllowedMethodTypes,
    },
  },
]

function wrapAnchor(form: FormObject): void {
  const anchor = form.billing_cycle_anchor
  if (typeof anchor !== 'string') return
  form.billing_cycle_anchor = /^\d+$/.test(anchor)
    ? { type: 'timestamp', timestamp: anchor }
    : { type: anchor }
}

function renameAllowedMethodTypes(form: FormObject): void {
  renameField(form, 'payment_method_types', 'allowed_payment_method_types')
}
