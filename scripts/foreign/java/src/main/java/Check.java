import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.AuthenticationResponseParser;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.UserInfoRequest;
import com.nimbusds.openid.connect.sdk.UserInfoResponse;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtAudienceValidator;
import org.springframework.security.oauth2.jwt.JwtDecoders;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;

/** Verifies the tokens in a file, and prints the library's verdict on each. */
public class Check {
  interface Reader {
    void read(String token) throws Exception;
  }

  static Map<String, Object> given;
  static String issuer;

  public static void main(String[] arguments) throws Exception {
    given = JSONObjectUtils.parse(Files.readString(Path.of(arguments[0])));
    issuer = (String) given.get("issuer");
    springByIssuer();
    springByKeys();
    springAsRfc9068();
    nimbus("default", "at+jwt", JWSAlgorithm.ES256);
    nimbus("readByAll", "JWT", JWSAlgorithm.RS256);
    say("Nimbus OAuth 2.0 SDK, code flow and UserInfo", "-", "signIn", Check::signIn);
    SpringClient client = new SpringClient(issuer, (Map<?, ?>) given.get("client"));
    say("Spring Security, client", "-", "signIn", unused -> client.signIn(false));
    say("Spring Security, client", "-", "anothers", unused -> client.signIn(true));
  }

  /** The decoder of a Spring Boot application with `issuer-uri` and `audiences`. */
  static void springByIssuer() {
    NimbusJwtDecoder decoder = JwtDecoders.fromIssuerLocation(issuer);
    decoder.setJwtValidator(forAudience("readByAll", JwtValidators.createDefaultWithIssuer(issuer)));
    each("Spring Security, fromIssuerLocation", "readByAll", decoder::decode);
  }

  /** The decoder of a Spring Boot application with `jwk-set-uri`, which accepts only RS256. */
  static void springByKeys() {
    NimbusJwtDecoder decoder = NimbusJwtDecoder.withJwkSetUri(issuer + "/.well-known/jwks.json").build();
    decoder.setJwtValidator(forAudience("readByAll", JwtValidators.createDefaultWithIssuer(issuer)));
    each("Spring Security, withJwkSetUri", "readByAll", decoder::decode);
  }

  /** Spring Security's optional decoder for RFC 9068. */
  static void springAsRfc9068() {
    NimbusJwtDecoder decoder = NimbusJwtDecoder.withIssuerLocation(issuer)
        .jwsAlgorithm(SignatureAlgorithm.ES256).validateType(false).build();
    String clientId = (String) ((Map<?, ?>) given.get("client")).get("client_id");
    decoder.setJwtValidator(JwtValidators.createAtJwtValidator()
        .audience(audience("default")).clientId(clientId).issuer(issuer).build());
    each("Spring Security, createAtJwtValidator", "default", decoder::decode);
  }

  static OAuth2TokenValidator<Jwt> forAudience(String preset, OAuth2TokenValidator<Jwt> others) {
    return new DelegatingOAuth2TokenValidator<>(others, new JwtAudienceValidator(audience(preset)));
  }

  static void nimbus(String preset, String type, JWSAlgorithm algorithm) throws Exception {
    DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
    var keys = JWKSourceBuilder.create(new URL(issuer + "/.well-known/jwks.json")).build();
    processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType(type)));
    processor.setJWSKeySelector(new JWSVerificationKeySelector<>(algorithm, keys));
    processor.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(audience(preset),
        new JWTClaimsSet.Builder().issuer(issuer).build(), Set.of("sub", "exp", "iat")));
    each("Nimbus JOSE + JWT", preset, token -> processor.process(token, null));
  }

  static void signIn(String unused) throws Exception {
    Map<?, ?> client = (Map<?, ?>) given.get("client");
    ClientID id = new ClientID((String) client.get("client_id"));
    Secret secret = new Secret((String) client.get("client_secret"));
    URI redirect = URI.create((String) client.get("redirect_uri"));
    OIDCProviderMetadata metadata = OIDCProviderMetadata.resolve(new Issuer(issuer));
    CodeVerifier verifier = new CodeVerifier();
    State state = new State();
    Nonce nonce = new Nonce();
    URI asked = new AuthenticationRequest.Builder(ResponseType.CODE, Scope.parse("openid email"), id, redirect)
        .endpointURI(metadata.getAuthorizationEndpointURI()).state(state).nonce(nonce)
        .codeChallenge(verifier, CodeChallengeMethod.S256).build().toURI();
    HTTPRequest browser = new HTTPRequest(HTTPRequest.Method.GET, asked);
    browser.setFollowRedirects(false);
    browser.setAccept("text/html");
    var callback = AuthenticationResponseParser.parse(browser.send().getLocation()).toSuccessResponse();
    if (!state.equals(callback.getState()) || !new Issuer(issuer).equals(callback.getIssuer())) {
      throw new IllegalStateException("another state or issuer");
    }
    AuthorizationCode code = callback.getAuthorizationCode();
    TokenRequest request = new TokenRequest.Builder(metadata.getTokenEndpointURI(), new ClientSecretBasic(id, secret),
        new AuthorizationCodeGrant(code, redirect, verifier)).build();
    var reply = OIDCTokenResponseParser.parse(request.toHTTPRequest().send());
    if (!reply.indicatesSuccess()) throw new IllegalStateException(reply.toErrorResponse().getErrorObject().toString());
    var tokens = ((OIDCTokenResponse) reply.toSuccessResponse()).getOIDCTokens();
    new IDTokenValidator(new Issuer(issuer), id, JWSAlgorithm.RS256, metadata.getJWKSetURI().toURL())
        .validate(tokens.getIDToken(), nonce);
    var info = UserInfoResponse.parse(new UserInfoRequest(metadata.getUserInfoEndpointURI(), tokens.getBearerAccessToken())
        .toHTTPRequest().send()).toSuccessResponse().getUserInfo();
    if (!"ada@example.com".equals(info.getEmailAddress())) throw new IllegalStateException("another person");
  }

  static Map<?, ?> tokens(String preset) {
    return (Map<?, ?>) ((Map<?, ?>) given.get("tokens")).get(preset);
  }

  static String audience(String preset) {
    return (String) tokens(preset).get("audience");
  }

  static void each(String library, String preset, Reader reader) {
    for (String name : List.of("good", "anotherAudience", "expired", "idToken", "tampered")) {
      say(library, preset, name, token -> reader.read((String) tokens(preset).get(name)));
    }
  }

  static void say(String library, String preset, String name, Reader reader) {
    String result = "accepted";
    String detail = "";
    try {
      reader.read("");
    } catch (Exception error) {
      result = "refused";
      detail = String.valueOf(error.getMessage()).replaceAll("\\s+", " ");
    }
    System.out.println(String.join("\t", library, preset, name, result, detail));
  }
}
