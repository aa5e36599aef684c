import { type DiscountParam, redeemDiscounts } from '../../catalog/redeem-discounts.ts'
import { filterLiveDiscounts } from '../../state/discounts.ts'
import type { CustomerRow, PhaseRow } from '../../state/rows.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { createMutuallyExclusiveFault, createNoSuchObjectFault } from '../../wire/errors.ts'

type PhaseDiscount = PhaseRow['discounts'][number]

/** Reads the discounts of a schedule's phase. They are redeemed when the phase starts. */
export function readDiscounts(
  work: UnitOfWork,
  customer: CustomerRow,
  params: readonly DiscountParam[] | '' | null | undefined,
  path: string,
): PhaseDiscount[] {
  return (params || []).map(({ coupon, promotion_code: code, discount }, at) => {
    const of = `${path}[discounts][${at}]`
    if ([coupon, code, discount].filter((id) => id !== undefined).length !== 1) {
      throw createMutuallyExclusiveFault('coupon, promotion_code, discount', of)
    }
    if (coupon !== undefined) work.requireLive('coupon', coupon, `${of}[coupon]`)
    if (code !== undefined) work.require('promotion_code', code, `${of}[promotion_code]`)
    if (discount !== undefined) {
      const { customer: whose } = work.require('discount', discount, `${of}[discount]`)
      if (whose !== customer.id)
        throw createNoSuchObjectFault('discount', discount, `${of}[discount]`)
    }
    return { coupon: coupon ?? null, discount: discount ?? null, promotion_code: code ?? null }
  })
}

/**
 * Returns the ids of the discounts of a phase that starts: keeps those that already apply, redeems
 * new ones, and omits ended ones.
 */
export function resolvePhaseDiscounts(
  work: UnitOfWork,
  phaseDiscounts: readonly PhaseDiscount[],
  currentDiscountIds: readonly string[],
  target: Parameters<typeof redeemDiscounts>[2],
): string[] {
  return phaseDiscounts.flatMap((each) => {
    const same = currentDiscountIds.find((id) => isSame(work, id, each))
    if (same !== undefined) return [same]
    if (each.discount) return filterLiveDiscounts(work, [each.discount], work.now)
    const param = each.promotion_code
      ? { promotion_code: each.promotion_code }
      : { coupon: each.coupon ?? '' }
    return redeemDiscounts(work, [param], target)
  })
}

export function hasSameDiscounts(
  work: UnitOfWork,
  present: readonly string[],
  requestedDiscounts: readonly PhaseDiscount[],
): boolean {
  return (
    present.length === requestedDiscounts.length &&
    requestedDiscounts.every((each) => present.some((id) => isSame(work, id, each)))
  )
}

function isSame(work: UnitOfWork, id: string, requestedDiscount: PhaseDiscount): boolean {
  if (requestedDiscount.discount) return id === requestedDiscount.discount
  const discount = work.find('discount', id)
  if (requestedDiscount.promotion_code)
    return discount?.promotion_code === requestedDiscount.promotion_code
  return discount?.promotion_code === null && discount.source.coupon === requestedDiscount.coupon
}
