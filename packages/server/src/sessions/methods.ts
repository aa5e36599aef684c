/**
 * A method with which a person proved their identity, by the names of RFC 8176 for the claim `amr`.
 * `fed` is our own name for a sign-in at another provider, and `email` for a link or code sent by
 * e-mail.
 */
export type SignInMethod = 'pwd' | 'otp' | 'pop' | 'user' | 'mfa' | 'fed' | 'email'

/** The `acr` of a sign-in with a password and nothing else. */
export const PASSWORD_ACR = 'password'

/** The `acr` of a sign-in with two factors, or with a passkey that verified the person. */
export const MFA_ACR = 'mfa'

/**
 * Returns the authentication context class (`acr`) of a sign-in with these methods. `null` for a
 * sign-in with one factor that is not a password.
 */
export function chooseAcr(methods: readonly string[]): string | null {
  if (methods.includes('mfa')) return MFA_ACR
  return methods.includes('pwd') ? PASSWORD_ACR : null
}

const METHOD = /^[a-z]{1,10}$/

/** Parses the methods of a stored session. */
export function parseMethods(stored: string): readonly string[] {
  return stored.split(' ').filter((method) => METHOD.test(method))
}
