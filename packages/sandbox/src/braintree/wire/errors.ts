import messages from './validation-messages.json' with { type: 'json' }
import { XmlList, type XmlObject, XmlSymbol, type XmlValue } from './xml.ts'

/** Braintree's validation messages by code. `%` is replaced by a detail. */
const MESSAGES: Readonly<Record<string, string>> = messages

/** An error response of Braintree's API. The SDK reads only its status. */
export abstract class BraintreeError extends Error {
  abstract readonly status: number
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** Error for a body that cannot be parsed or has a wrong structure (status 400). */
export class BadRequest extends BraintreeError {
  readonly status = 400
}

export class AuthenticationFailed extends BraintreeError {
  readonly status = 401
}

/**
 * Error for keys of another merchant, or for a parameter that the API does not permit (status 403).
 */
export class NotAuthorized extends BraintreeError {
  readonly status = 403
}

export class NotFound extends BraintreeError {
  readonly status = 404
}

/**
 * Location of an error in a call's parameters, such as `['subscription', 'discounts', 'add',
 * 'index_0']`.
 */
export type ErrorPath = readonly string[]

interface ErrorNode {
  errors: Array<{ code: string; attribute: string; message: string }>
  children: Map<string, ErrorNode>
}

/** Collects validation errors by their location in the call's parameters. */
export class ErrorCollector {
  readonly #root: ErrorNode = { errors: [], children: new Map() }
  readonly #messages: string[] = []

  add(path: ErrorPath, attribute: string, code: string, detail = ''): void {
    this.addWith(path, attribute, {
      code,
      message: (MESSAGES[code] ?? 'Invalid.').replace('%', () => detail),
    })
  }

  /**
   * Adds an error with a given message, for codes that Braintree uses with two different messages.
   */
  addWith(path: ErrorPath, attribute: string, error: { code: string; message: string }): void {
    let node = this.#root
    for (const name of path) {
      let child = node.children.get(name)
      if (!child) {
        child = { errors: [], children: new Map() }
        node.children.set(name, child)
      }
      node = child
    }
    node.errors.push({ ...error, attribute })
    this.#messages.push(error.message)
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0
  }

  get message(): string {
    return this.#messages.join('\n')
  }

  throwIfAny(): void {
    if (!this.isEmpty) throw new ValidationRefused({ errors: this })
  }

  toXml(): XmlObject {
    return nodeToXml(this.#root)
  }

  /** Returns the collected errors in the format of the API for pages. */
  toFieldErrors(): FieldError[] {
    return fieldErrorsOf(this.#root)
  }
}

/** Errors of a field, or of the fields inside it, in the format of the API for pages. */
export interface FieldError {
  readonly field: string
  readonly code?: string
  readonly message?: string
  readonly fieldErrors?: readonly FieldError[]
}

function fieldErrorsOf(node: ErrorNode): FieldError[] {
  const own = node.errors.map(({ code, attribute, message }) => {
    return { field: camelCase(attribute), code, message }
  })
  const inside = [...node.children].map(([name, child]) => {
    return { field: camelCase(name), fieldErrors: fieldErrorsOf(child) }
  })
  return [...own, ...inside]
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function nodeToXml(node: ErrorNode): XmlObject {
  const errors = node.errors.map(({ code, attribute, message }) => ({
    code,
    attribute: new XmlSymbol(attribute),
    message,
  }))
  const fields: Record<string, XmlValue> = { errors: new XmlList('error', errors) }
  for (const [name, child] of node.children) fields[name] = nodeToXml(child)
  return fields
}

export interface ValidationFailure {
  readonly errors?: ErrorCollector
  /**
   * Message of the response. Defaults to the joined messages of `errors`. For a decline, it is the
   * processor's text.
   */
  readonly message?: string
  /**
   * Additional elements of the response: the declined `transaction` or the failed `verification`.
   */
  readonly extras?: XmlObject
}

/**
 * Error for a well-formed request that is invalid or declined (status 422). The response repeats
 * the parameters of the request.
 */
export class ValidationRefused extends BraintreeError {
  readonly status = 422
  readonly errors: ErrorCollector
  readonly extras: XmlObject

  constructor(refusal: ValidationFailure) {
    const errors = refusal.errors ?? new ErrorCollector()
    super(refusal.message ?? errors.message)
    this.errors = errors
    this.extras = refusal.extras ?? {}
  }
}

/**
 * Rejects a call for a single reason.
 * @throws {ValidationRefused}
 */
export function throwValidationError(
  path: ErrorPath,
  attribute: string,
  code: string,
  detail?: string,
): never {
  const errors = new ErrorCollector()
  errors.add(path, attribute, code, detail)
  throw new ValidationRefused({ errors })
}
