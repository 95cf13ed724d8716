import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.type.TypeFactory;
import com.fasterxml.jackson.jakarta.rs.json.JacksonJsonProvider;
import com.fasterxml.jackson.module.jakarta.xmlbind.JakartaXmlBindAnnotationIntrospector;
import eu.europa.esig.dss.cades.signature.CAdESService;
import eu.europa.esig.dss.enumerations.DigestAlgorithm;
import eu.europa.esig.dss.pades.signature.PAdESService;
import eu.europa.esig.dss.model.x509.CertificateToken;
import eu.europa.esig.dss.model.x509.revocation.crl.CRL;
import eu.europa.esig.dss.service.crl.OnlineCRLSource;
import eu.europa.esig.dss.spi.DSSUtils;
import eu.europa.esig.dss.spi.client.http.NativeHTTPDataLoader;
import eu.europa.esig.dss.spi.exception.DSSExternalResourceException;
import eu.europa.esig.dss.spi.validation.CommonCertificateVerifier;
import eu.europa.esig.dss.spi.x509.CommonTrustedCertificateSource;
import eu.europa.esig.dss.spi.x509.revocation.RevocationSource;
import eu.europa.esig.dss.spi.x509.revocation.RevocationToken;
import eu.europa.esig.dss.spi.x509.revocation.crl.ExternalResourcesCRLSource;
import eu.europa.esig.dss.spi.x509.tsp.KeyEntityTSPSource;
import eu.europa.esig.dss.ws.signature.common.RemoteDocumentSignatureServiceImpl;
import eu.europa.esig.dss.ws.signature.rest.RestDocumentSignatureServiceImpl;
import eu.europa.esig.dss.ws.timestamp.remote.RemoteTimestampService;
import eu.europa.esig.dss.ws.timestamp.remote.rest.RestTimestampServiceImpl;
import eu.europa.esig.dss.ws.validation.common.RemoteDocumentValidationService;
import eu.europa.esig.dss.ws.validation.rest.RestDocumentValidationServiceImpl;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Date;
import org.apache.cxf.jaxrs.JAXRSServerFactoryBean;
import org.bouncycastle.asn1.cmp.PKIFailureInfo;
import org.bouncycastle.asn1.cmp.PKIStatus;
import org.bouncycastle.tsp.TSPValidationException;
import org.bouncycastle.tsp.TimeStampRequest;

/**
 * The REST services of EU DSS on loopback, by the paths of its demonstration, and RFC 3161 beside them at /tsa. Arguments: a folder with ca.der, ca.crl and tsa.p12; a
 * port; and where further roots are trusted, a file with their certificates in PEM. The lists of revoked certificates of those are fetched from loopback, each time, as
 * DSS does without a cache.
 */
public class DssTarget {
  private static final char[] PASSWORD = "changeit".toCharArray();

  public static void main(String[] arguments) throws Exception {
    File folder = new File(arguments[0]);
    String base = "http://127.0.0.1:" + arguments[1] + "/services/rest";

    CommonTrustedCertificateSource trusted = new CommonTrustedCertificateSource();
    trusted.addCertificate(DSSUtils.loadCertificate(new File(folder, "ca.der")));
    CommonCertificateVerifier verifier = new CommonCertificateVerifier();
    verifier.setTrustedCertSources(trusted);
    verifier.setAIASource(null);
    RevocationSource<CRL> own = new ExternalResourcesCRLSource(new FileInputStream(new File(folder, "ca.crl")));
    if (arguments.length < 3) {
      // Nothing is fetched.
      verifier.setCrlSource(own);
    } else {
      try (InputStream file = new FileInputStream(arguments[2])) {
        for (Certificate root : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
          trusted.addCertificate(new CertificateToken((X509Certificate) root));
        }
      }
      OnlineCRLSource online = new OnlineCRLSource(new LoopbackLoader());
      verifier.setCrlSource(
          (certificate, issuer) -> {
            RevocationToken<CRL> known = own.getRevocationToken(certificate, issuer);
            return known != null ? known : online.getRevocationToken(certificate, issuer);
          });
    }

    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream file = new FileInputStream(new File(folder, "tsa.p12"))) {
      keys.load(file, PASSWORD);
    }
    QueriedTimestamps timestamps = new QueriedTimestamps(keys);
    timestamps.setTsaPolicy("1.2.3.4.1");

    CAdESService cades = new CAdESService(verifier);
    cades.setTspSource(timestamps);
    PAdESService pades = new PAdESService(verifier);
    pades.setTspSource(timestamps);
    RemoteDocumentSignatureServiceImpl signatures = new RemoteDocumentSignatureServiceImpl();
    signatures.setCadesService(cades);
    signatures.setPadesService(pades);
    RestDocumentSignatureServiceImpl signatureService = new RestDocumentSignatureServiceImpl();
    signatureService.setService(signatures);
    serve(base + "/signature/one-document", signatureService);

    RemoteTimestampService remoteTimestamps = new RemoteTimestampService();
    remoteTimestamps.setTSPSource(timestamps);
    RestTimestampServiceImpl timestampService = new RestTimestampServiceImpl();
    timestampService.setTimestampService(remoteTimestamps);
    serve(base + "/timestamp-service", timestampService);
    serve(base + "/tsa", new TimestampAuthority(timestamps));

    RemoteDocumentValidationService validation = new RemoteDocumentValidationService();
    validation.setVerifier(verifier);
    RestDocumentValidationServiceImpl validationService = new RestDocumentValidationServiceImpl();
    validationService.setValidationService(validation);
    serve(base + "/validation", validationService);

    System.out.println("ready");
    Thread.currentThread().join();
  }

  /** DSS's own source of timestamps, which makes a whole response to a query and shows callers of its API no more than the token. */
  private static class QueriedTimestamps extends KeyEntityTSPSource {
    QueriedTimestamps(KeyStore keys) {
      super(keys, "tsa", PASSWORD);
    }

    byte[] reply(byte[] der) throws Exception {
      TimeStampRequest query;
      try {
        query = new TimeStampRequest(der);
      } catch (IOException | RuntimeException why) {
        return rejection(PKIFailureInfo.badDataFormat, "the query cannot be read");
      }
      DigestAlgorithm digest;
      try {
        digest = DigestAlgorithm.forOID(query.getMessageImprintAlgOID().getId());
      } catch (IllegalArgumentException why) {
        return rejection(PKIFailureInfo.badAlg, "the hash is not known");
      }
      try {
        return generateResponse(query, digest).getEncoded();
      } catch (TSPValidationException why) {
        return rejection(why.getFailureCode(), why.getMessage());
      }
    }

    private byte[] rejection(int failure, String why) throws Exception {
      return initResponseGenerator(DigestAlgorithm.SHA256, new Date())
          .generateFailResponse(PKIStatus.REJECTION, failure, why).getEncoded();
    }
  }

  /** RFC 3161 over HTTP (section 3.4). */
  @Path("/")
  public static class TimestampAuthority {
    private final QueriedTimestamps timestamps;

    TimestampAuthority(QueriedTimestamps timestamps) {
      this.timestamps = timestamps;
    }

    @POST
    @Consumes("application/timestamp-query")
    @Produces("application/timestamp-reply")
    public byte[] reply(byte[] query) throws Exception {
      return timestamps.reply(query);
    }
  }

  /** Fetches from loopback alone, whatever a certificate says. */
  private static class LoopbackLoader extends NativeHTTPDataLoader {
    @Override
    public byte[] get(String url) {
      if (!url.startsWith("http://127.0.0.1:")) {
        throw new DSSExternalResourceException("not on loopback: " + url);
      }
      return super.get(url);
    }
  }

  private static void serve(String address, Object service) {
    ObjectMapper mapper = new ObjectMapper();
    mapper.setAnnotationIntrospector(new JakartaXmlBindAnnotationIntrospector(TypeFactory.defaultInstance(), true));
    mapper.setSerializationInclusion(JsonInclude.Include.NON_NULL);
    JacksonJsonProvider json = new JacksonJsonProvider();
    json.setMapper(mapper);
    JAXRSServerFactoryBean server = new JAXRSServerFactoryBean();
    server.setAddress(address);
    server.setServiceBean(service);
    server.setProvider(json);
    server.create();
  }
}
