import type { FormObject } from '../../wire/form.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** Who named no payment methods took cards; since August 2023 they take all that the dashboard offers. */
export const cardByDefault: VersionChange = {
  since: '2023-08-16',
  name: 'card-by-default',
  params: { 'PaymentIntents.create': takeCards, 'SetupIntents.create': takeCards },
}

function takeCards(form: FormObject): void {
  const named = [
    'payment_method_types',
    'automatic_payment_methods',
    'payment_method_configuration',
  ]
  if (named.every((name) => form[name] === undefined)) form.payment_method_types = { 0: 'card' }
}
