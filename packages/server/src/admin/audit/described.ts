/** The object that an operation acted on, for the audit log. */
export interface AuditSubject {
  /** Kind of the object, such as `user` or `client`. */
  readonly kind: string
  readonly id: string
  /** The person or team that the object belongs to: a user id such as `42`, or `team:7`. */
  readonly owner?: string | null
}

/** An entry of the audit log, as an operation describes it. */
export interface AuditDescription {
  readonly subject?: AuditSubject
  /** Facts for the log: no secrets, no personal data. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Personal data of the subject's owner, such as the e-mail address. Deleted with the owner. */
  readonly personal?: Readonly<Record<string, string>>
}
