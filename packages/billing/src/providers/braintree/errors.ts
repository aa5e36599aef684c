import type braintree from 'braintree'
import {
  BillingError,
  InvalidPaymentToken,
  type ProviderFailure,
  ProviderMisconfigured,
  ProviderRejected,
  ProviderUnavailable,
  UnknownCoupon,
  UnknownPrice,
} from '../../core/errors/errors.ts'
import { PaymentFailed } from '../../core/errors/payment-errors.ts'

type ErrorFactory = (message: string, failure: ProviderFailure) => BillingError

const createUnavailable: ErrorFactory = (_message, failure) =>
  new ProviderUnavailable('Braintree did not answer, or asked to try again later', failure)
const createInvalidKeysError: ErrorFactory = (_message, failure) =>
  new ProviderMisconfigured('Braintree does not accept the keys', failure)

/** Errors that the SDK throws, by their `type`. */
const byType: Readonly<Record<string, ErrorFactory>> = {
  authenticationError: createInvalidKeysError,
  authorizationError: createInvalidKeysError,
  requestTimeoutError: createUnavailable,
  tooManyRequestsError: createUnavailable,
  serverError: createUnavailable,
  serviceUnavailableError: createUnavailable,
  gatewayTimeoutError: createUnavailable,
  unexpectedError: createUnavailable,
  notFoundError: (_message, failure) =>
    new ProviderRejected('Braintree has no such object', failure),
  invalidKeysError: (message, failure) => new ProviderRejected(message, failure),
  upgradeRequired: (message, failure) => new ProviderMisconfigured(message, failure),
}

/** Errors in Braintree's responses, by validation code. */
const byCode: Readonly<Record<string, ErrorFactory>> = {
  91904: (message, failure) => new UnknownPrice(message, failure),
  92013: (message, failure) => new UnknownCoupon(message, failure),
  91526: (_message, failure) =>
    new ProviderMisconfigured(
      'Braintree does not know the custom field for descriptions: create it under Settings → Processing → Custom Fields, or set braintree.descriptionField',
      failure,
    ),
}
for (const code of [
  '91731',
  '91732',
  '93107',
  '93108',
  '91565',
  '91564',
  '91903',
  '91925',
  '91926',
  '81703',
  '91727',
]) {
  Object.assign(byCode, {
    [code]: (message: string, failure: ProviderFailure) =>
      new InvalidPaymentToken(message, failure),
  })
}

export function toBillingError(error: unknown): unknown {
  if (error instanceof BillingError || !(error instanceof Error)) return error
  const { type } = error as { type?: unknown }
  const map = typeof type === 'string' && Object.hasOwn(byType, type) ? byType[type] : undefined
  const failure: ProviderFailure = {
    provider: 'braintree',
    providerCode: typeof type === 'string' ? type : null,
    cause: error,
  }
  return map ? map(error.message, failure) : error
}

/** Throws if the response reports a failure, so that callers cannot forget to check it. */
export function requireSuccess<R extends Refusal & { readonly success: boolean }>(result: R): R {
  if (result.success) return result
  throw toRejectionError(result)
}

interface Refusal {
  readonly message: string
  readonly errors?: braintree.ValidationErrorsCollection
  readonly transaction?: Partial<braintree.Transaction>
  readonly verification?: Attempt
}

function toRejectionError(result: Refusal): BillingError {
  const codes = listErrorCodes(result)
  for (const code of codes) {
    const map = Object.hasOwn(byCode, code) ? byCode[code] : undefined
    if (map) return map(result.message, { provider: 'braintree', providerCode: code })
  }
  const attempt = result.transaction ?? result.verification
  if (attempt && codes.length === 0) return toPaymentFailed(attempt, result.message)
  return new ProviderRejected(result.message, {
    provider: 'braintree',
    providerCode: codes[0] ?? null,
  })
}

interface Attempt {
  readonly processorResponseCode?: string | undefined
  readonly processorResponseText?: string | undefined
  readonly gatewayRejectionReason?: string | undefined
}

/** Converts a declined charge or card verification to an error. */
export function toPaymentFailed(attempt: Attempt, message: string): PaymentFailed {
  const { processorResponseCode, processorResponseText, gatewayRejectionReason } = attempt
  return new PaymentFailed(message, {
    provider: 'braintree',
    providerCode: processorResponseCode || gatewayRejectionReason || null,
    declineCode: processorResponseText || gatewayRejectionReason || null,
  })
}

export function listErrorCodes(result: object): string[] {
  const { errors } = result as Partial<Refusal>
  return errors?.deepErrors().map(({ code }) => String(code)) ?? []
}

export function isNotFound(error: unknown): boolean {
  return error instanceof Error && (error as { type?: unknown }).type === 'notFoundError'
}

/** Runs `work`. Resolves to `null` if Braintree reports that an object does not exist. */
export async function nullIfMissing<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
