import {
  findPromotionCode as find,
  type PromotionCode,
  requireCodeText,
} from '../../customers/promotion-codes.ts'
import type { UserHaving } from '../user-scope.ts'

export async function findPromotionCode(
  { context, user, provider }: UserHaving<'promotionCodes'>,
  code: string,
): Promise<PromotionCode | null> {
  const text = requireCodeText(code)
  return find(context, { text, typedBy: user.record, provider })
}
