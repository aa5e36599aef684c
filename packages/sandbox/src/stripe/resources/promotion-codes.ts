import type { StripeOperations } from '../api/operation.ts'
import {
  createOperation,
  listOperation,
  retrieveOperation,
  updateOperation,
} from '../api/resource.ts'
import { findCustomer } from '../payments/customer.ts'
import { createBlankRow } from '../state/blank.ts'
import { createInvalidRequestFault, createMissingParamFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { requireCurrency } from '../wire/money.ts'

export const promotionCodeOperations: StripeOperations = {
  'PromotionCodes.create': createOperation('promotion_code', (params, { work }) => {
    if (params.promotion.coupon === undefined) throw createMissingParamFault('promotion[coupon]')
    const coupon = work.requireLive('coupon', params.promotion.coupon, 'promotion[coupon]')
    const code = params.code ?? work.context.store.randomText(8, 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789')
    if (!/^[A-Za-z0-9-]+$/.test(code)) {
      throw createInvalidRequestFault(
        'Promotion codes may only contain letters, digits and dashes.',
        'code',
      )
    }
    const active = params.active ?? true
    const taken = work
      .findBy('promotion_code', 'code', code.toLowerCase())
      .some((row) => row.active)
    if (active && taken) {
      throw createInvalidRequestFault(
        `An active promotion code with \`code: ${code}\` already exists.`,
        'code',
      )
    }
    if (params.expires_at !== undefined && params.expires_at <= work.now) {
      throw createInvalidRequestFault('The expires_at date must be in the future.', 'expires_at')
    }
    const { restrictions } = params
    if (restrictions?.minimum_amount !== undefined && !restrictions.minimum_amount_currency) {
      throw createMissingParamFault('restrictions[minimum_amount_currency]')
    }
    return {
      ...createBlankRow('promotion_code'),
      id: work.newId('promo_1'),
      active,
      code,
      created: work.now,
      customer: findCustomer(work, params.customer)?.id ?? null,
      ...pickSentFields(params, 'expires_at', 'max_redemptions'),
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
  }),

  'PromotionCodes.retrieve': retrieveOperation('promotion_code'),

  'PromotionCodes.update': updateOperation(
    'promotion_code',
    ['active'],
    (row, { restrictions }) => {
      const options = restrictions?.currency_options
      if (!options) return
      const currencyOptions = readMinimums(options, row.restrictions)
      row.$ = { currencyOptions: { ...row.$?.currencyOptions, ...currencyOptions } }
    },
  ),
  'PromotionCodes.list': listOperation('promotion_code', {
    where: {
      code: (row, code) => row.code.toLowerCase() === code.toLowerCase(),
      coupon: (row, coupon) => row.promotion.coupon === coupon,
    },
  }),
}

/** Reads a promotion code's minimum amounts in other currencies. */
function readMinimums(
  minimumParams: Readonly<Record<string, { readonly minimum_amount?: number }>>,
  { minimum_amount_currency: own }: { readonly minimum_amount_currency?: string | null },
): Record<string, { minimum_amount: number }> {
  const minimums: Record<string, { minimum_amount: number }> = {}
  for (const [code, { minimum_amount: least }] of Object.entries(minimumParams)) {
    const path = `restrictions[currency_options][${code}]`
    const currency = requireCurrency(code, path)
    if (currency === own) {
      throw createInvalidRequestFault(
        'Each currency must be different from `minimum_amount_currency`.',
        path,
      )
    }
    if (least !== undefined) minimums[currency] = { minimum_amount: least }
  }
  return minimums
}
