import { copyJson } from '../../../core/store/copy-json.ts'
import { render } from '../../state/render.ts'
import type { WireObject } from '../../wire/wire-object.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** A payment held its charges, and a charge its refunds; since November 2022 they are asked for. */
export const intentCharges: VersionChange = {
  since: '2022-11-15',
  name: 'intent-charges',
  objects: {
    payment_intent(wire, tables) {
      const charges = tables.charge.findBy('payment_intent', wire.id).reverse()
      wire.charges = listOf(
        charges.map((row) => copyJson(render('charge', row, tables))),
        `/v1/charges?payment_intent=${wire.id}`,
      )
    },
    charge(wire, tables) {
      const refunds = tables.refund.findBy('charge', wire.id).reverse()
      wire.refunds ??= listOf(
        refunds.map((row) => copyJson(render('refund', row, tables))),
        `/v1/charges/${wire.id}/refunds`,
      )
    },
  },
}

function listOf(data: readonly WireObject[], url: string) {
  return { object: 'list', data, has_more: false, total_count: data.length, url }
}
