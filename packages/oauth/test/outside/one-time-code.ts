import { type Grant, InvalidGrant, requireParam } from '@tollgate/oauth'

export interface OneTimeCodes {
  /** Finds the user id of a code, and uses the code up. `null` if the code is unknown. */
  redeem(code: string): Promise<string | null>
}

/**
 * Creates a grant for a code from a letter or a text message. The grant itself identifies the user.
 */
export function oneTimeCode(codes: OneTimeCodes): Grant {
  return {
    type: 'urn:example:grant-type:one-time-code',
    async exchange({ client, params, signOutMark }, context) {
      const userId = await codes.redeem(requireParam(params, 'one_time_code'))
      if (userId === null || !(await context.userExists(userId))) {
        throw new InvalidGrant('The code is unknown or used')
      }
      const scopes = context.resolveScopes(params.get('scope'), client)
      const grantType = this.type
      return context.issueTokens({
        client,
        userId,
        scopes,
        grantType,
        refreshable: true,
        signOutMark,
      })
    },
  }
}
