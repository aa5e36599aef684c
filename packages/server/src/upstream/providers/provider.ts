import type { z } from 'zod'

/** A person as another provider describes them. */
export interface UpstreamIdentity {
  /** Identifies the person at the provider. Never changes, and is never given to another person. */
  readonly subject: string
  /** The person's e-mail address. `null` if the provider does not tell it. */
  readonly email: string | null
  /** Whether the provider has checked that the address belongs to the person. */
  readonly isEmailVerified: boolean
  readonly name: string | null
  /** When the person signed in at the provider. `null` if the provider does not tell it. */
  readonly authenticatedAt: Date | null
}

/** Values of one attempt to sign in, which the browser keeps until the provider's response. */
export interface UpstreamAttempt {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
  readonly redirectUri: string
  /** Whether the person must prove their identity again, even if signed in at the provider. */
  readonly isFresh: boolean
  readonly startedAt: Date
}

/** A provider with which people can sign in. */
export interface UpstreamProvider {
  /** Name of the provider in URLs and in the table `linked_identities`. */
  readonly id: string
  /** Name that the buttons show. */
  readonly name: string
  /** Origin of the provider's pages, as far as it is known without a request. */
  readonly origin: string
  /** Whether the response is a form that the provider's page posts, as Apple's is. */
  readonly postsResponse: boolean
  /**
   * Returns the URL of the provider's sign-in page.
   * @throws UpstreamFailure
   */
  begin(attempt: UpstreamAttempt): Promise<URL>
  /**
   * Validates the provider's response and returns the person.
   * @throws UpstreamFailure
   */
  finish(response: URLSearchParams, attempt: UpstreamAttempt): Promise<UpstreamIdentity>
  /**
   * Checks for `tollgate doctor` that the provider can be used. Returns one sentence.
   * @throws UpstreamFailure
   */
  check(): Promise<string>
}

/** The functions of the service that providers use. */
export interface ProviderTools {
  /** Sends a request through the guard against private addresses. */
  fetch(url: string, request: ProviderRequest): Promise<Response>
  now(): Date
}

export interface ProviderRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | null
}

/** A kind of provider: the settings of one, and how to create it from them. */
export interface ProviderKind<Settings> {
  /** The members of the settings. The secret is separate, because the environment can set it. */
  readonly settings: z.ZodType<Settings>
  /** Name of the member with the secret. */
  readonly secretMember: 'clientSecret' | 'privateKey'
  /**
   * Checks the secret at start-up. Returns what is expected instead if it is invalid, without the
   * secret.
   */
  findSecretProblem?(secret: string): string | null
  create(
    provider: { readonly id: string; readonly secret: string; readonly settings: Settings },
    tools: ProviderTools,
  ): UpstreamProvider
}

/** Why a sign-in with another provider failed. */
export type UpstreamFailureReason =
  /** The provider does not respond, or responds with an error of its own. */
  | 'unavailable'
  /** The person cancelled at the provider. */
  | 'cancelled'
  /** The provider did not ask the person to sign in again. */
  | 'stale'
  /** The response is invalid, or not meant for this attempt. */
  | 'invalid'

/** Thrown if a sign-in with another provider fails. The message contains no secret. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly reason: UpstreamFailureReason

  constructor(reason: UpstreamFailureReason, message: string) {
    super(message)
    this.reason = reason
  }
}
