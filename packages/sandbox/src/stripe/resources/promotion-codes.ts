import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { requireCoupon } from '../catalog/coupons.ts'
import { requireCustomer } from '../payments/customer.ts'
import { render } from '../state/render.ts'
import type { PromotionCodeRow } from '../state/rows.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { requireCurrency } from '../wire/money.ts'
import { nulls } from '../wire/wire.ts'

export const promotionCodes: Operations = {
  'PromotionCodes.create': op<Stripe.PromotionCodeCreateParams>((params, { work }) => {
    if (params.promotion.coupon === undefined) throw missingParam('promotion[coupon]')
    const coupon = requireCoupon(work, params.promotion.coupon, 'promotion[coupon]')
    const code = params.code ?? work.context.store.randomText(8, 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789')
    if (!/^[A-Za-z0-9-]+$/.test(code)) {
      throw invalidRequest('Promotion codes may only contain letters, digits and dashes.', 'code')
    }
    const active = params.active ?? true
    const taken = work
      .findBy('promotion_code', 'code', code.toLowerCase())
      .some((row) => row.active)
    if (active && taken) {
      throw invalidRequest(
        `An active promotion code with \`code: ${code}\` already exists.`,
        'code',
      )
    }
    if (params.expires_at !== undefined && params.expires_at <= work.now) {
      throw invalidRequest('The expires_at date must be in the future.', 'expires_at')
    }
    const { restrictions } = params
    if (restrictions?.minimum_amount !== undefined && !restrictions.minimum_amount_currency) {
      throw missingParam('restrictions[minimum_amount_currency]')
    }
    const row: PromotionCodeRow = {
      ...nulls<Stripe.PromotionCode>('promotion_code'),
      id: work.newId('promo_1'),
      object: 'promotion_code',
      active,
      code,
      created: work.now,
      customer:
        params.customer === undefined
          ? null
          : requireCustomer(work, params.customer, 'customer').id,
      expires_at: params.expires_at ?? null,
      livemode: false,
      max_redemptions: params.max_redemptions ?? null,
      metadata: mergeMetadata({}, params.metadata),
      promotion: { coupon: coupon.id, type: 'coupon' },
      restrictions: {
        first_time_transaction: restrictions?.first_time_transaction ?? false,
        minimum_amount: restrictions?.minimum_amount ?? null,
        minimum_amount_currency: restrictions?.minimum_amount_currency ?? null,
      },
      times_redeemed: 0,
      ...(restrictions?.currency_options
        ? { $: { currencyOptions: readMinimums(restrictions.currency_options, restrictions) } }
        : {}),
    }
    work.insert('promotion_code', row, 'promotion_code.created')
    return render('promotion_code', row, work.tables)
  }),

  'PromotionCodes.retrieve': op((_params, call) =>
    render('promotion_code', call.work.require('promotion_code', idOf(call)), call.work.tables),
  ),

  'PromotionCodes.update': op<Stripe.PromotionCodeUpdateParams>((params, call) => {
    const { work } = call
    const row = work.edit('promotion_code', work.require('promotion_code', idOf(call)))
    if (params.active !== undefined) row.active = params.active
    row.metadata = mergeMetadata(row.metadata, params.metadata)
    const options = params.restrictions?.currency_options
    if (options) {
      const currencyOptions = readMinimums(options, row.restrictions)
      row.$ = { currencyOptions: { ...row.$?.currencyOptions, ...currencyOptions } }
    }
    return render('promotion_code', row, work.tables)
  }),

  'PromotionCodes.list': op<Stripe.PromotionCodeListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables.promotion_code.newestFirst(),
      (row) =>
        (params.active === undefined || row.active === params.active) &&
        (params.code === undefined || row.code.toLowerCase() === params.code.toLowerCase()) &&
        (params.coupon === undefined || row.promotion.coupon === params.coupon) &&
        (params.customer === undefined || row.customer === params.customer) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('promotion_code', row, work.tables))
  }),
}

/** What is to be bought at least, in other currencies than that of the code. */
function readMinimums(
  given: Readonly<Record<string, { readonly minimum_amount?: number }>>,
  { minimum_amount_currency: own }: { readonly minimum_amount_currency?: string | null },
): Record<string, { minimum_amount: number }> {
  const minimums: Record<string, { minimum_amount: number }> = {}
  for (const [code, { minimum_amount: least }] of Object.entries(given)) {
    const path = `restrictions[currency_options][${code}]`
    const currency = requireCurrency(code, path)
    if (currency === own) {
      throw invalidRequest('Each currency must be different from `minimum_amount_currency`.', path)
    }
    if (least !== undefined) minimums[currency] = { minimum_amount: least }
  }
  return minimums
}
