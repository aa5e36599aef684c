import type { recoveryEn } from './en.ts'

/** The texts of mail about accounts, and of the pages that its links open, in German. */
export const recoveryDe: Readonly<Record<keyof typeof recoveryEn, string>> = {
  'mail.hello': 'Guten Tag,',
  'mail.greeting': 'Guten Tag {name},',
  'mail.closing': 'Mit freundlichen Grüßen',
  'mail.lasts.minutes':
    'Der Link funktioniert einmal, {count, plural, one {# Minute} other {# Minuten}} lang.',
  'mail.lasts.hours':
    'Der Link funktioniert einmal, {count, plural, one {# Stunde} other {# Stunden}} lang.',
  'mail.lasts.days':
    'Der Link funktioniert einmal, {count, plural, one {# Tag} other {# Tage}} lang.',
  'mail.ignore': 'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail. Es ändert sich nichts.',
  'mail.operator': 'den Betreiber von {service}',
  'mail.choosePassword': 'Neues Passwort wählen',
  'mail.password_reset.subject': 'Neues Passwort für {service}',
  'mail.password_reset.text':
    'Für das Konto {email} wurde ein neues Passwort angefordert. Öffnen Sie den Link, um es zu wählen.',
  'mail.address_verification.subject': 'Bestätigen Sie Ihre E-Mail-Adresse für {service}',
  'mail.address_verification.text': 'Bitte bestätigen Sie, dass {email} Ihre E-Mail-Adresse ist.',
  'mail.address_verification.button': 'Adresse bestätigen',
  'mail.address_change.subject': 'Bestätigen Sie Ihre neue E-Mail-Adresse für {service}',
  'mail.address_change.text':
    'Ein Konto bei {service} soll künftig die Adresse {email} haben. Bitte bestätigen Sie, dass dies Ihre E-Mail-Adresse ist.',
  'mail.registration.subject': 'Schließen Sie Ihre Registrierung bei {service} ab',
  'mail.registration.text':
    'Mit der Adresse {email} wurde eine Registrierung bei {service} begonnen. Öffnen Sie den Link, um ein Passwort zu wählen und das Konto anzulegen.',
  'mail.registration.button': 'Konto anlegen',
  'mail.invitation.subject': 'Ihre Einladung zu {service}',
  'mail.invitation.text':
    'Sie sind eingeladen, bei {service} ein Konto mit der Adresse {email} anzulegen.',
  'mail.invitation.button': 'Einladung annehmen',
  'mail.team_invitation.subject': 'Ihre Einladung in ein Team bei {service}',
  'mail.team_invitation.text':
    '{inviter} lädt Sie in ein Team bei {service} ein. Annehmen können Sie mit dem Konto der Adresse {email}. Wenn Sie noch keines haben, legen Sie es an, nachdem Sie den Link geöffnet haben.',
  'mail.team_invitation.ignore':
    'Wenn Sie diese Person nicht kennen, ignorieren Sie diese E-Mail. Sie treten nur bei, wenn Sie annehmen.',
  'mail.already_registered.subject': 'Sie haben schon ein Konto bei {service}',
  'mail.already_registered.text':
    'Die Adresse {email} wurde bei {service} für ein neues Konto oder als neue Adresse eingegeben. Sie gehört schon zu Ihrem Konto: Melden Sie sich an, oder wählen Sie ein neues Passwort, wenn Sie es vergessen haben.',
  'mail.already_registered.button': 'Anmelden',
  'mail.password_changed.subject': 'Ihr Passwort für {service} wurde geändert',
  'mail.password_changed.text':
    'Das Passwort des Kontos {email} wurde geändert. Alle Geräte und Anwendungen wurden abgemeldet.',
  'mail.password_changed.others':
    'Neben dem neuen Passwort gilt für die Anmeldung weiterhin: {other}.',
  'mail.password_changed.notYou':
    'Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort. Damit enden erneut alle Sitzungen und alle Zugriffe von Anwendungen.',
  'mail.address_change_requested.subject': 'Ihre E-Mail-Adresse für {service} soll geändert werden',
  'mail.address_change_requested.text':
    'Das Konto {email} soll künftig die Adresse {other} haben. Das gilt erst, wenn die neue Adresse bestätigt ist.',
  'mail.address_change_requested.notYou':
    'Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort. Damit enden alle Sitzungen, und die Adresse bleibt, wie sie ist.',
  'mail.address_changed.subject': 'Ihre E-Mail-Adresse für {service} wurde geändert',
  'mail.address_changed.text':
    'Das Konto {email} hat ab jetzt die Adresse {other}. Dies ist die letzte E-Mail an die alte Adresse.',
  'mail.address_changed.notYou':
    'Wenn Sie das nicht waren, wenden Sie sich sofort an {contact}: Mit dieser Adresse können Sie sich nicht mehr anmelden.',
  'mail.address_confirmed.subject': 'Ihre E-Mail-Adresse für {service} wurde geändert',
  'mail.address_confirmed.text': 'Ihr Konto bei {service} hat ab jetzt die Adresse {email}.',
  'mail.sign_in_method_added.subject': 'Eine neue Anmeldung für {service}',
  'mail.sign_in_method_added.text':
    'Das Konto {email} hat eine neue Möglichkeit der Anmeldung: {method}.',
  'mail.sign_in_method_removed.subject': 'Eine Anmeldung für {service} wurde entfernt',
  'mail.sign_in_method_removed.text':
    'Das Konto {email} kann diese Möglichkeit der Anmeldung nicht mehr verwenden: {method}.',
  'mail.recovery_codes_created.subject': 'Neue Wiederherstellungscodes für {service}',
  'mail.recovery_codes_created.text':
    'Für das Konto {email} wurden neue Wiederherstellungscodes erzeugt. Die bisherigen gelten nicht mehr.',
  'mail.quota_alert.subject': 'Sie haben {percent} % Ihres Kontingents verbraucht: {name}',
  'mail.quota_alert.text':
    'Sie haben {percent} % eines Kontingents Ihres Tarifs bei {service} verbraucht: {name}.',
  'mail.quota_alert.usedUp': 'Ein Kontingent Ihres Tarifs bei {service} ist aufgebraucht: {name}.',
  'mail.quota_alert.button': 'Kontingente und Tarife ansehen',
  'mail.recovery_code_used.subject': 'Ein Wiederherstellungscode für {service} wurde verwendet',
  'mail.recovery_code_used.text':
    'Mit einem Wiederherstellungscode statt des zweiten Faktors wurde das Konto {email} angemeldet.',
  'mail.recovery_code_used.left':
    '{count, plural, =0 {Es ist kein Code mehr übrig: Erzeugen Sie neue auf Ihrer Kontoseite.} one {Es ist noch ein Code übrig.} other {Es sind noch # Codes übrig.}}',
  'mail.notYou':
    'Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort, und prüfen Sie die Möglichkeiten der Anmeldung auf Ihrer Kontoseite.',

  'recovery.forgot.title': 'Passwort vergessen',
  'recovery.forgot.lead':
    'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Sie bekommen eine E-Mail mit einem Link, um ein neues Passwort zu wählen.',
  'recovery.forgot.send': 'E-Mail senden',
  'recovery.forgot.link': 'Passwort vergessen?',
  'recovery.sent.title': 'Wir haben Ihnen eine E-Mail geschickt',
  'recovery.sent.reset':
    'Wenn es ein Konto mit dieser Adresse gibt, kommt in wenigen Minuten eine E-Mail mit einem Link an. Der Link funktioniert einmal, 30 Minuten lang.',
  'recovery.sent.registration':
    'In wenigen Minuten kommt eine E-Mail mit einem Link an. Öffnen Sie ihn, um ein Passwort zu wählen. Wenn Sie schon ein Konto haben, steht das in der E-Mail.',
  'recovery.sent.none':
    'Keine E-Mail? Sehen Sie im Spam-Ordner nach, und prüfen Sie die Adresse. Jede Adresse bekommt nur wenige E-Mails pro Stunde.',
  'recovery.again': 'Noch einmal versuchen',
  'recovery.unusable.title': 'Dieser Link funktioniert nicht',
  'recovery.unusable.text':
    'Der Link wurde schon verwendet, ist abgelaufen, oder das Konto hat sich seitdem geändert. Fordern Sie eine neue E-Mail an.',
  'recovery.unusable.register': 'Registrieren',
  'recovery.reset.title': 'Neues Passwort wählen',
  'recovery.reset.lead': 'Für das Konto {email}. Alle Geräte und Anwendungen werden abgemeldet.',
  'recovery.reset.save': 'Passwort speichern',
  'recovery.done.reset': 'Ihr neues Passwort ist gespeichert. Melden Sie sich jetzt damit an.',
  'recovery.done.kept':
    'Passkeys und Konten bei anderen Anbietern, die vorher hinzugefügt wurden, gelten weiterhin. Prüfen Sie sie auf Ihrer Kontoseite.',
  'recovery.done.removed':
    'Bisher hatte niemand die Adresse dieses Kontos bestätigt. Deshalb wurden zweite Faktoren und Konten bei anderen Anbietern entfernt, die vorher hinzugefügt wurden.',
  'recovery.done.confirm': 'Ihre E-Mail-Adresse ist bestätigt.',
  'recovery.done.title': 'Erledigt',
  'recovery.confirm.title': 'E-Mail-Adresse bestätigen',
  'recovery.confirm.verification': 'Ist {email} Ihre E-Mail-Adresse?',
  'recovery.confirm.change':
    'Soll das Konto {account} künftig die Adresse {email} haben? Wenn Sie dieses Konto nicht kennen, schließen Sie die Seite.',
  'recovery.confirm.button': 'Adresse bestätigen',
  'recovery.join.title': 'Konto anlegen',
  'recovery.join.lead': 'Ihr Konto hat die E-Mail-Adresse {email}.',
  'recovery.join.button': 'Konto anlegen',
  'recovery.captcha':
    'Bitte bestätigen Sie, dass Sie kein Roboter sind, und versuchen Sie es erneut.',
  'account.emailTitle': 'E-Mail-Adresse',
  'account.verified': 'Bestätigt',
  'account.unverified': 'Noch nicht bestätigt',
  'account.verify': 'E-Mail zum Bestätigen der Adresse senden',
  'account.verifySent':
    'Wir haben Ihnen eine E-Mail mit einem Link geschickt, um Ihre Adresse zu bestätigen.',
  'account.newEmail': 'Neue E-Mail-Adresse',
  'account.changeEmail': 'E-Mail-Adresse ändern',
  'account.changeEmailLead':
    'Ihr Konto behält seine Adresse, bis Sie den Link öffnen, den wir an die neue schicken.',
  'account.emailRequested':
    'Wir haben eine E-Mail an die neue Adresse geschickt. Öffnen Sie den Link darin, um die Änderung zu bestätigen.',
}
