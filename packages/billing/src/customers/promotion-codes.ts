import type { BillingContext } from '../context.ts'
import { InvalidArgument, PromotionCodeRefused, TooManyAttempts } from '../errors.ts'
import type { ProviderPromotionCode } from '../gateways/contract/parts/money/promotion-codes.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderName } from '../provider-name.ts'
import type { BilledOwner } from '../storage/tables.ts'
import { shown } from '../values/arguments.ts'

/** A code that somebody may use. */
export type PromotionCode = Omit<ProviderPromotionCode, 'isActive' | 'customerId' | 'raw'>

/** A code as it was typed, and by whom. */
export interface TypedCode {
  readonly text: string
  readonly typedBy: Pick<BilledOwner, 'owner' | 'providerId'>
  readonly provider: ProviderName
}

/** As people copy it: with spaces around. */
export function requireCodeText(text: unknown): string {
  const code = typeof text === 'string' ? text.trim() : ''
  if (code !== '') return code
  throw new InvalidArgument(
    `The promotion code is ${typeof text === 'string' ? 'empty' : shown(text)}; expected text, as somebody types it`,
  )
}

/** Null for one that this owner cannot use, whether or not there is one. */
export async function findPromotionCode(
  context: BillingContext,
  typed: TypedCode,
): Promise<PromotionCode | null> {
  const found = await lookUp(context, typed)
  if (!found || !isUsable(context, found, typed)) return null
  const { isActive: _active, customerId: _customer, raw: _raw, ...shown } = found
  return shown
}

/**
 * The provider's id, which is sent in its place: whether it holds is then the provider's answer. One that is used up
 * passes, because whoever repeats a call after a lost answer may be who has used it.
 */
export async function requirePromotionCode(
  context: BillingContext,
  typed: TypedCode,
): Promise<string> {
  const found = await lookUp(context, typed)
  if (found && isFor(found, typed)) return found.id
  throw new PromotionCodeRefused('This code cannot be used', {
    provider: typed.provider,
    providerCode: null,
    reason: 'unknown',
  })
}

/** Counted before the provider is asked, so no number of callers at once gets more answers than the limit. */
async function lookUp(
  context: BillingContext,
  typed: TypedCode,
): Promise<ProviderPromotionCode | null> {
  const { codeAttempts, options } = context
  const { owner } = typed.typedBy
  const at = options.clock.now()
  const { limit, seconds } = options.codeAttempts
  const until = new Date(at.getTime() + seconds * 1000)
  const nextAt = await codeAttempts.count(owner, { limit, at, until })
  if (nextAt) {
    const retryAfter = Math.max(1, Math.ceil((nextAt.getTime() - at.getTime()) / 1000))
    throw new TooManyAttempts('Too many codes were tried: try again later', { retryAfter })
  }
  const found = await ask(context, typed).catch(async (error) => {
    // Whoever got no answer has guessed nothing.
    await codeAttempts.takeBack(owner, at)
    throw error
  })
  if (found && isUsable(context, found, typed)) await codeAttempts.takeBack(owner, at)
  return found
}

async function ask(
  context: BillingContext,
  { provider, text, typedBy }: TypedCode,
): Promise<ProviderPromotionCode | null> {
  const codes = requirePart(await context.gateway(provider), 'promotionCodes')
  return codes.find(text, typedBy.providerId)
}

function isUsable(
  { options }: BillingContext,
  found: ProviderPromotionCode,
  typed: TypedCode,
): boolean {
  const isOver = found.expiresAt !== null && found.expiresAt <= options.clock.now()
  return found.isActive && !isOver && found.left !== 0 && isFor(found, typed)
}

/** Somebody else's looks like none: the provider's answer might tell that there is one. */
function isFor({ customerId }: ProviderPromotionCode, { typedBy }: TypedCode): boolean {
  return customerId === null || customerId === typedBy.providerId
}
