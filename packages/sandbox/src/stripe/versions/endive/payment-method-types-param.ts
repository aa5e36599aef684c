import type { FormObject } from '../../wire/form.ts'
import { renameField } from '../basics/form-fields.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** The methods a payment may be made with: endive asks for them under another name. */
export const paymentMethodTypesParam: VersionChange = {
  since: '2026-09-30',
  name: 'payment-method-types-param',
  params: {
    'PaymentIntents.create': allow,
    'PaymentIntents.update': allow,
    'PaymentIntents.confirm': allow,
    'SetupIntents.create': allow,
    'SetupIntents.update': allow,
    'Checkout/Sessions.create': allow,
  },
}

function allow(form: FormObject): void {
  renameField(form, 'payment_method_types', 'allowed_payment_method_types')
}
