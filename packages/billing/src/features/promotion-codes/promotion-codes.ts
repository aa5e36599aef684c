import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument, PromotionCodeRefused, TooManyAttempts } from '../../core/errors/errors.ts'
import type { BilledOwner } from '../../core/storage/tables.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { formatValue } from '../../core/values/arguments.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { ProviderPromotionCode } from './contract.ts'

/** A promotion code that the user can use, with its discount and conditions. */
export type PromotionCode = Omit<ProviderPromotionCode, 'isActive' | 'customerId' | 'raw'>

/** A promotion code with the owner (user or team) who typed it. */
export interface PromotionCodeInput {
  readonly text: string
  readonly typedBy: Pick<BilledOwner, 'owner' | 'providerId'>
  readonly provider: ProviderName
}

/**
 * Checks a typed promotion code, and removes the spaces around it, which are often copied along.
 * @throws InvalidArgument if it is empty or not text.
 */
export function requireCodeText(text: unknown): string {
  const code = typeof text === 'string' ? text.trim() : ''
  if (code !== '') return code
  throw new InvalidArgument(
    `The promotion code is ${typeof text === 'string' ? 'empty' : formatValue(text)}; expected the text of the code`,
  )
}

/** Finds a promotion code by its text. `null` if there is none, or this owner cannot use it. */
export async function findPromotionCode(
  context: BillingContext,
  typed: PromotionCodeInput,
): Promise<PromotionCode | null> {
  const found = await lookUp(context, typed)
  if (!found || !isUsable(context, found, typed)) return null
  const { isActive: _active, customerId: _customer, raw: _raw, ...shown } = found
  return shown
}

/**
 * Returns the provider's id of a promotion code, which requests contain instead of the code itself.
 * The provider decides later whether the code is valid. A code that has reached its limit is
 * accepted here, because an earlier attempt of the same call may have used it.
 * @throws PromotionCodeRefused if there is no such code, or it belongs to another customer.
 */
export async function requirePromotionCode(
  context: BillingContext,
  typed: PromotionCodeInput,
): Promise<string> {
  const found = await lookUp(context, typed)
  if (found && isFor(found, typed)) return found.id
  throw new PromotionCodeRefused('This code cannot be used', {
    provider: typed.provider,
    providerCode: null,
    reason: 'unknown',
  })
}

/**
 * Looks up a code. Attempts are counted before the request, so that concurrent callers cannot
 * exceed the limit.
 */
async function lookUp(
  context: BillingContext,
  typed: PromotionCodeInput,
): Promise<ProviderPromotionCode | null> {
  const { codeAttempts, options } = context
  const { owner } = typed.typedBy
  const at = options.clock.now()
  const { limit, seconds } = options.codeAttempts
  const until = new Date(at.getTime() + seconds * 1000)
  const nextAt = await codeAttempts.count(owner, { limit, at, until })
  if (nextAt) {
    const retryAfter = Math.max(1, Math.ceil((nextAt.getTime() - at.getTime()) / 1000))
    throw new TooManyAttempts('Too many promotion codes were tried: try again later', {
      retryAfter,
    })
  }
  const found = await findCodeAtProvider(context, typed).catch(async (error) => {
    // A failed request reveals nothing about the code.
    await codeAttempts.takeBack(owner, at)
    throw error
  })
  if (found && isUsable(context, found, typed)) await codeAttempts.takeBack(owner, at)
  return found
}

async function findCodeAtProvider(
  context: BillingContext,
  { provider, text, typedBy }: PromotionCodeInput,
): Promise<ProviderPromotionCode | null> {
  const codes = requireGatewayPart(await context.gateway(provider), 'promotionCodes')
  return codes.find(text, typedBy.providerId)
}

function isUsable(
  { options }: BillingContext,
  found: ProviderPromotionCode,
  typed: PromotionCodeInput,
): boolean {
  const isOver = found.expiresAt !== null && found.expiresAt <= options.clock.now()
  return found.isActive && !isOver && found.left !== 0 && isFor(found, typed)
}

/**
 * Whether the owner may use a code. Another customer's code is treated as unknown, because the
 * provider's error could reveal it.
 */
function isFor({ customerId }: ProviderPromotionCode, { typedBy }: PromotionCodeInput): boolean {
  return customerId === null || customerId === typedBy.providerId
}

export async function findTypedCode(
  { context, user, provider }: UserScopeWith<'promotionCodes'>,
  code: string,
): Promise<PromotionCode | null> {
  const text = requireCodeText(code)
  return findPromotionCode(context, { text, typedBy: user.record, provider })
}
