import { copyJson } from '../../../core/store/copy-json.ts'
import { renderRow } from '../../state/render.ts'
import type { FormObject } from '../../wire/form.ts'
import type { WireObject } from '../../wire/wire-object.ts'
import { renameField } from '../basics/form-fields.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** Changes in the API versions that have a date but no name, newest first. */
export const DATED_VERSION_CHANGES: readonly VersionChange[] = [
  // A product's marketing features were called `features`, which since April 2024 means something
  // else.
  {
    since: '2024-04-10',
    name: 'marketing-features',
    params: {
      'Products.create': (form) => renameField(form, 'features', 'marketing_features'),
      'Products.update': (form) => renameField(form, 'features', 'marketing_features'),
    },
    objects: {
      product(wire) {
        wire.features = wire.marketing_features ?? []
        delete wire.marketing_features
      },
    },
  },
  // Intents accepted cards by default; since August 2023 all payment methods enabled in the
  // dashboard.
  {
    since: '2023-08-16',
    name: 'card-by-default',
    params: { 'PaymentIntents.create': acceptCards, 'SetupIntents.create': acceptCards },
  },
  // Payment intents contained their charges, and charges their refunds; since November 2022 refunds
  // must be expanded.
  {
    since: '2022-11-15',
    name: 'intent-charges',
    objects: {
      payment_intent(wire, tables) {
        const charges = tables.charge.findBy('payment_intent', wire.id).reverse()
        wire.charges = listOf(
          charges.map((row) => copyJson(renderRow('charge', row, tables))),
          `/v1/charges?payment_intent=${wire.id}`,
        )
      },
      charge(wire, tables) {
        const refunds = tables.refund.findBy('charge', wire.id).reverse()
        wire.refunds ??= listOf(
          refunds.map((row) => copyJson(renderRow('refund', row, tables))),
          `/v1/charges/${wire.id}/refunds`,
        )
      },
    },
  },
]

function acceptCards(form: FormObject): void {
  const named = [
    'payment_method_types',
    'automatic_payment_methods',
    'payment_method_configuration',
  ]
  if (named.every((name) => form[name] === undefined)) form.payment_method_types = { 0: 'card' }
}

function listOf(data: readonly WireObject[], url: string) {
  return { object: 'list', data, has_more: false, total_count: data.length, url }
}
