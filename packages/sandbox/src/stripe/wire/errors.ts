/** The body of a Stripe error, below `error`. */
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

/** A refusal in Stripe's own words. */
export class StripeFault extends Error {
  readonly status: number
  readonly body: StripeErrorBody
  /** A failed payment leaves its traces (the intent, the charge); any other refusal leaves none. */
  readonly keepsChanges: boolean

  constructor(status: number, body: StripeErrorBody, options: { keepsChanges?: boolean } = {}) {
    super(body.message)
    this.name = 'StripeFault'
    this.status = status
    this.body = body
    this.keepsChanges = options.keepsChanges ?? false
  }
}

export function invalidRequest(message: string, param?: string, code?: string): StripeFault {
  return new StripeFault(400, {
    type: 'invalid_request_error',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : withDocs(code)),
  })
}

export function noSuch(noun: string, id: string, param = 'id'): StripeFault {
  // Stripe answers 404 for the object in the path and 400 for one named by a parameter.
  return new StripeFault(param === 'id' ? 404 : 400, {
    type: 'invalid_request_error',
    ...withDocs('resource_missing'),
    message: `No such ${noun}: '${id}'`,
    param,
  })
}

export function missingParam(param: string): StripeFault {
  return invalidRequest(`Missing required param: ${param}.`, param, 'parameter_missing')
}

export function unknownParams(params: readonly string[]): StripeFault {
  const plural = params.length > 1 ? 's' : ''
  return new StripeFault(400, {
    type: 'invalid_request_error',
    ...withDocs('parameter_unknown'),
    message: `Received unknown parameter${plural}: ${params.join(', ')}`,
    param: params[0] ?? '',
  })
}

export function withDocs(code: string): { code: string; doc_url: string } {
  return { code, doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}` }
}
