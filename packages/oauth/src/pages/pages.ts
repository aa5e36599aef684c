import type { Client } from '../storage/records.ts'

/** An application that asks for something, and what is known of it. All but `client.name` is certain. */
export interface AskingApplication {
  /**
   * Who asks. `userId` has registered it; null: whoever runs this server, or the application itself. Tell others
   * no more of that person than they have published.
   */
  readonly client: Pick<Client, 'id' | 'name' | 'userId'>
  /** Whether whoever runs this server has registered it or vouches for it. Say so where nobody has looked at it. */
  readonly verified: boolean
  /** Where this server has its logo: a path, for an `img`. Null for none. */
  readonly logo: string | null
  /** The https address of its page about what it does with people's data, as it says; null for none. */
  readonly policyUri: string | null
  /** The same of its terms of service. */
  readonly termsUri: string | null
  /** Of an application that has registered itself; null for all others. */
  readonly selfRegistered: {
    /** Where it says who it is, which is proven; null where nothing is. */
    readonly host: string | null
    /** Whether somebody here vouches for it. */
    readonly verified: boolean
  } | null
}

/** A scope on a page where people approve. */
export interface ShownScope {
  /** Its name. */
  readonly id: string
  /** The words people read. */
  readonly description: string
  /**
   * People may leave it out: the form has a checkbox with these attributes. What is not ticked is not approved, and
   * what has no checkbox in a page of your own is not either. Null for a scope that goes with the approval.
   */
  readonly checkbox: {
    /** Of the field. */
    readonly name: string
    /** What it sends when it is ticked. */
    readonly value: string
    /** False where this person has left it out before. */
    readonly checked: boolean
  } | null
}

/** An API that access is asked for. */
export interface ShownResource {
  /** Its address. */
  readonly uri: string
  /** What people call it; null where the options do not say. */
  readonly name: string | null
}

/** What a consent page shows, and what its form sends back. */
export interface ConsentView extends AskingApplication {
  /** Who is asked. */
  readonly userId: string
  /** For a link: where somebody else signs in, and comes back to this request. */
  readonly otherAccount: string
  /** What is asked for. */
  readonly scopes: readonly ShownScope[]
  /** Where the scopes count: other APIs than this server's own. Name them. Empty for its own. */
  readonly resources: readonly ShownResource[]
  /** Where the person will be sent: the host of the redirect, or the scheme of an app. */
  readonly destination: string
  /**
   * That is a program on the person's own computer (`localhost`, `127.0.0.1`, `[::1]`). Warn of it: whatever listens there
   * gets the answer, and any program can ask in the name of a client that has no secret.
   */
  readonly toOwnComputer: boolean
  /**
   * The scheme of the program on the person's device that the answer opens, such as `cursor:`; null for a web address. Name
   * it: any program can claim a scheme.
   */
  readonly opensProgram: string | null
  /** Where approve and deny are posted to. */
  readonly action: string
  /** For the hidden field of the form. */
  readonly csrfToken: string
}

/** Asks a person for the code that their device shows (RFC 8628 §3.3). */
export interface UserCodeForm {
  /** Tells the three pages of `device` apart. */
  readonly step: 'enter'
  /** What stands in the field: from the address the device gave, or what was typed before. Empty for nothing. */
  readonly userCode: string
  /** What was wrong with the code before, for people; null at first. */
  readonly problem: string | null
  /** Where `user_code` and `csrf_token` are posted to. */
  readonly action: string
  /** For the hidden field of the form. */
  readonly csrfToken: string
}

/**
 * Asks a person to approve or deny a device. Say that they should approve only what they have started
 * themselves: whoever talks them into it would get their access (RFC 8628 §5.4).
 */
export interface DeviceQuestion extends AskingApplication {
  /** Tells the three pages of `device` apart. */
  readonly step: 'confirm'
  /** Who is asked. */
  readonly userId: string
  /** For a link: where somebody else signs in, and comes back to type the code. */
  readonly otherAccount: string
  /** What is asked for. */
  readonly scopes: readonly ShownScope[]
  /** Where the scopes count: other APIs than this server's own. Name them. Empty for its own. */
  readonly resources: readonly ShownResource[]
  /** As the device shows it, to be compared. */
  readonly userCode: string
  /** Where approve and deny are posted to. */
  readonly action: string
  /** For the hidden field of the form. */
  readonly csrfToken: string
}

/** Says that it is done; the device learns it by itself. */
export interface DeviceAnswered {
  /** Tells the three pages of `device` apart. */
  readonly step: 'done'
  /** What the person decided. */
  readonly approved: boolean
  /** Who asked. */
  readonly client: Pick<Client, 'id' | 'name' | 'userId'>
}

/** One of the three pages of the device flow. */
export type DeviceView = UserCodeForm | DeviceQuestion | DeviceAnswered

/** What an error page shows. */
export interface ErrorView {
  /** The HTTP status. */
  readonly status: number
  /** What went wrong, for people. Escape it. */
  readonly message: string
  /** What they can do about it, where there is something. */
  readonly hint: string | null
  /**
   * For a link, where they have answered too late or are signed out: the page that asks once more, after signing in
   * where that is needed. Null where that would not help.
   */
  readonly again: string | null
}

/** What the page shows that asks whether to sign out, and what its form sends back. */
export interface SignOutView {
  /** Who asks for it, as far as that is known. */
  readonly client: Pick<Client, 'id' | 'name'> | null
  /** Who is asked. */
  readonly userId: string
  /** Where the person will be sent afterwards: a host, or the scheme of an app. Null: nowhere. */
  readonly destination: string | null
  /** Why they will not be sent where the client wants. */
  readonly problem: string | null
  /** Where the form is posted to, with `decision` as `sign_out` or `stay`. */
  readonly action: string
  /** For hidden fields of the form. */
  readonly fields: Readonly<Record<string, string>>
  /** Languages that the client asks for, the best first (`ui_locales`). */
  readonly locales: readonly string[]
}

/** What the page shows after the question, or where there was none to ask. */
export interface SignedOutView {
  /** The person has decided to stay. */
  readonly stillSignedIn: boolean
  /** Languages that the client asks for, the best first (`ui_locales`). */
  readonly locales: readonly string[]
}

/** Replace some or all with your own; each gives a whole HTML document. No inline script or style. */
export interface Pages {
  /** Asks somebody to approve a client. */
  consent(view: ConsentView): string | Promise<string>
  /** Lets somebody type the code of a device, and approve or deny it; shown only with `deviceCode()`. */
  device(view: DeviceView): string | Promise<string>
  /** Says what went wrong where no redirect is safe. */
  error(view: ErrorView): string | Promise<string>
  /** Asks whether to sign out. Needed by `openid({ logout: true })` alone. */
  signOut(view: SignOutView): string | Promise<string>
  /** Says that nobody is signed in any more. */
  signedOut(view: SignedOutView): string | Promise<string>
  /** Sent at `/oauth/pages.css`, which the default pages link to. */
  readonly stylesheet: string
}
