import type { Client } from '../storage/records.ts'

/** Language of a page; part of every view. */
export interface PageView {
  /**
   * Language of the page, for `<html lang>`: the first of `locales` for which texts exist. The
   * texts in the view are in this language.
   */
  readonly language: string
  /**
   * Languages that the reader wants, the preferred first: `ui_locales` of the request, then those
   * of the browser.
   */
  readonly locales: readonly string[]
}

/**
 * The application that asks for access. It chose its name itself, and the name is not verified.
 * Each other member is either verified, or described as stated by the application.
 */
export interface RequestingApplication {
  /**
   * The client. `userId` is the user who registered it; `null` if you did, or if it registered
   * itself. Show other people only public information about that user.
   */
  readonly client: Pick<Client, 'id' | 'name' | 'userId'>
  /**
   * Whether the operator registered or verified the application (`clients.verify()`). If not, say
   * on the page that it is unverified.
   */
  readonly verified: boolean
  /**
   * Path of the application's logo on this server, for an `img` element. `null` if there is no
   * logo.
   */
  readonly logo: string | null
  /**
   * URL of the application's privacy policy, as stated by the application. `null` if it states
   * none.
   */
  readonly policyUri: string | null
  /**
   * URL of the application's terms of service, as stated by the application. `null` if it states
   * none.
   */
  readonly termsUri: string | null
  /** How the application registered itself. `null` if it did not register itself. */
  readonly selfRegistered: {
    /** Proven host that the application comes from. `null` if none is proven. */
    readonly host: string | null
    /** Whether the operator has verified the application (`clients.verify()`). */
    readonly verified: boolean
  } | null
}

/** A scope on the approval screen. */
export interface ShownScope {
  /** Name of the scope. */
  readonly id: string
  /** Description for people. */
  readonly description: string
  /**
   * Attributes of the checkbox with which people may decline the scope. Only ticked optional scopes
   * are approved, so custom pages must render the checkbox. `null` for a scope that cannot be
   * declined separately.
   */
  readonly checkbox: {
    /** The `name` attribute. */
    readonly name: string
    /** The `value` attribute. */
    readonly value: string
    /**
     * Whether the checkbox is ticked at first. `false` if this person declined the scope before.
     */
    readonly checked: boolean
  } | null
}

/** An API that access is requested for. */
export interface ShownResource {
  /** URL of the API. */
  readonly uri: string
  /** Name of the API for people. `null` if the option `resources` has none. */
  readonly name: string | null
}

/** Data for the approval screen. */
export interface ConsentView extends RequestingApplication, PageView {
  /** The signed-in user who decides. */
  readonly userId: string
  /** URL for a "Not you?" link: signs in with another account and returns to this request. */
  readonly otherAccount: string
  /** The requested scopes. */
  readonly scopes: readonly ShownScope[]
  /**
   * Other APIs that the scopes apply to; name them on the page. Empty if the scopes apply only to
   * the server's own API.
   */
  readonly resources: readonly ShownResource[]
  /** Target of the redirect that follows: a host, or the scheme of an app. */
  readonly destination: string
  /**
   * Whether `destination` is the person's own computer (`localhost`, `127.0.0.1`, `[::1]`). If so,
   * warn on the page, because any program on that computer could receive the response.
   */
  readonly toOwnComputer: boolean
  /**
   * Scheme of the program on the person's device that opens, such as `cursor:`; `null` for a web
   * address. Name it on the page, because any program can claim a scheme.
   */
  readonly opensProgram: string | null
  /** URL that the form posts to. */
  readonly action: string
  /** Value of the hidden field `csrf_token`. */
  readonly csrfToken: string
}

/** Data for the page on which a person enters the code shown by their device (RFC 8628 §3.3). */
export interface UserCodeForm extends PageView {
  /** Discriminates the three pages of `device`. */
  readonly step: 'enter'
  /**
   * Initial value of the field: the code from the URL that the device showed, or the previous
   * input. Empty if there is neither.
   */
  readonly userCode: string
  /** Message about the previous input, for people. `null` at first. */
  readonly problem: string | null
  /** URL that the form posts `user_code` and `csrf_token` to. */
  readonly action: string
  /** Value of the hidden field `csrf_token`. */
  readonly csrfToken: string
}

/**
 * Data for the page on which a person approves or denies a device. The page should warn people to
 * approve only a request that they started themselves. Otherwise an attacker who persuades them to
 * approve gets access to their account (RFC 8628 §5.4).
 */
export interface DeviceQuestion extends RequestingApplication, PageView {
  /** Discriminates the three pages of `device`. */
  readonly step: 'confirm'
  /** The signed-in user who decides. */
  readonly userId: string
  /** URL for a "Not you?" link: signs in with another account and returns to the code page. */
  readonly otherAccount: string
  /** The requested scopes. */
  readonly scopes: readonly ShownScope[]
  /**
   * Other APIs that the scopes apply to; name them on the page. Empty if the scopes apply only to
   * the server's own API.
   */
  readonly resources: readonly ShownResource[]
  /** The code as the device shows it, for comparison. */
  readonly userCode: string
  /** URL that the form posts to. */
  readonly action: string
  /** Value of the hidden field `csrf_token`. */
  readonly csrfToken: string
}

/** Data for the last page of the device flow. The device learns the decision by polling. */
export interface DeviceAnswered extends PageView {
  /** Discriminates the three pages of `device`. */
  readonly step: 'done'
  /** Whether the person approved. */
  readonly approved: boolean
  /** The client that asked for access. */
  readonly client: Pick<Client, 'id' | 'name' | 'userId'>
}

/** Data for one of the three pages of the device flow. */
export type DeviceView = UserCodeForm | DeviceQuestion | DeviceAnswered

/** Data for the error page. */
export interface ErrorView extends PageView {
  /** The HTTP status of the response. */
  readonly status: number
  /** Description of the error. Escape it. */
  readonly message: string
  /**
   * Whether `message` and `hint` are meant for the application's developers. They are then in
   * English, not in `language`.
   */
  readonly isTechnical: boolean
  /** Advice for the reader. `null` if there is no hint. */
  readonly hint: string | null
  /**
   * URL of a link that opens an expired approval screen again, after signing in if needed. `null`
   * if that would not help.
   */
  readonly again: string | null
}

/** Data for the page that asks whether to sign out. */
export interface SignOutView extends PageView {
  /** The client that wants to sign the person out. `null` if unknown. */
  readonly client: Pick<Client, 'id' | 'name'> | null
  /** The signed-in user. */
  readonly userId: string
  /**
   * Target of the redirect that follows: a host, or the scheme of an app. `null` for none.
   */
  readonly destination: string | null
  /**
   * Explains why the person will not be redirected to the URL that the client requested. `null` if
   * there is no problem.
   */
  readonly problem: string | null
  /** URL that the form posts to, with `decision` set to `sign_out` or `stay`. */
  readonly action: string
  /** Hidden fields of the form. */
  readonly fields: Readonly<Record<string, string>>
}

/** Data for the page shown after the decision, or if there was nothing to decide. */
export interface SignedOutView extends PageView {
  /** Whether the person decided to stay signed in. */
  readonly stillSignedIn: boolean
}

/**
 * The pages of the server. Replace some or all by the option `pages`. Each returns a complete HTML
 * document without inline script or style.
 * @example
 * const pages: Partial<Pages> = {
 *   error: ({ message }) => `<!doctype html><title>Error</title><p>${escapeHtml(message)}</p>`,
 * }
 * createAuthorizationServer({ …, pages })
 */
export interface Pages {
  /** Renders the approval screen. */
  consent(view: ConsentView): string | Promise<string>
  /**
   * Renders the pages of the device flow: enter the code, approve or deny, done. Used only with
   * `deviceCode()`.
   */
  device(view: DeviceView): string | Promise<string>
  /** Renders an error when no redirect is safe. */
  error(view: ErrorView): string | Promise<string>
  /** Renders the page that asks whether to sign out. Used only with `openid({ logout: true })`. */
  signOut(view: SignOutView): string | Promise<string>
  /** Renders the page after signing out, or after deciding to stay. */
  signedOut(view: SignedOutView): string | Promise<string>
  /** The stylesheet that the default pages link to, served at `/oauth/pages.css`. */
  readonly stylesheet: string
}
