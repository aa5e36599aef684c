/** Content of the field `error` in an error response of Stripe. */
export interface StripeErrorBody {
  readonly type:
    | 'invalid_request_error'
    | 'card_error'
    | 'idempotency_error'
    | 'api_error'
    | 'temporary_session_expired'
  readonly message: string
  readonly code?: string
  readonly param?: string
  readonly decline_code?: string
  readonly [field: string]: unknown
}

/** An error response of Stripe's API. */
export class StripeFault extends Error {
  readonly status: number
  readonly body: StripeErrorBody
  /**
   * Whether the changes of the API call are committed despite the error. A failed payment keeps its
   * intent and charge.
   */
  readonly keepsChanges: boolean

  constructor(status: number, body: StripeErrorBody, options: { keepsChanges?: boolean } = {}) {
    super(body.message)
    this.name = 'StripeFault'
    this.status = status
    this.body = body
    this.keepsChanges = options.keepsChanges ?? false
  }
}

export function createInvalidRequestFault(
  message: string,
  param?: string,
  code?: string,
): StripeFault {
  return new StripeFault(400, {
    type: 'invalid_request_error',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : withErrorDocsUrl(code)),
  })
}

/** Creates an invalid request error with another status than 400. */
export function createFaultWithStatus(status: number, message: string, code?: string): StripeFault {
  return new StripeFault(status, createInvalidRequestFault(message, undefined, code).body)
}

/**
 * Creates the error (status 402) of a payment that was declined or that the customer must
 * authenticate. `more` is added to the body of the error.
 */
export function createCardErrorFault(
  code: string,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
): StripeFault {
  return new StripeFault(402, { type: 'card_error', ...withErrorDocsUrl(code), message, ...more })
}

export function createNoSuchObjectFault(noun: string, id: string, param = 'id'): StripeFault {
  // Stripe returns 404 for an object in the path and 400 for one named by a parameter.
  return new StripeFault(param === 'id' ? 404 : 400, {
    type: 'invalid_request_error',
    ...withErrorDocsUrl('resource_missing'),
    message: `No such ${noun}: '${id}'`,
    param,
  })
}

export function createMissingParamFault(param: string): StripeFault {
  return createInvalidRequestFault(`Missing required param: ${param}.`, param, 'parameter_missing')
}

/** Creates the error for parameters that cannot be used together. */
export function createMutuallyExclusiveFault(names: string, param?: string): StripeFault {
  return createInvalidRequestFault(`You may only specify one of these parameters: ${names}.`, param)
}

/** Creates the error for a number that is negative or out of range. */
export function createNegativeNumberFault(param: string): StripeFault {
  return createInvalidRequestFault(
    'Invalid non-negative integer',
    param,
    'parameter_invalid_integer',
  )
}

/** Creates the error for a number that is less than 1. */
export function createBelowOneFault(param: string): StripeFault {
  const message = 'This value must be greater than or equal to 1.'
  return createInvalidRequestFault(message, param, 'parameter_invalid_integer')
}

export function createUnknownParamsFault(params: readonly string[]): StripeFault {
  const plural = params.length > 1 ? 's' : ''
  const message = `Received unknown parameter${plural}: ${params.join(', ')}`
  return createInvalidRequestFault(message, params[0] ?? '', 'parameter_unknown')
}

export function withErrorDocsUrl(code: string): { code: string; doc_url: string } {
  return { code, doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}` }
}
