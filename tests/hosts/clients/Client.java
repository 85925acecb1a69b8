// SPDX-License-Identifier: MIT

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** java.net.http.HttpClient: it codes and decodes nothing by itself. */
class Client {
    static final HttpClient CLIENT = HttpClient.newHttpClient();
    static String url, folder;

    static byte[] kept(String ending) throws Exception {
        return Files.readAllBytes(Path.of(folder, "plain" + ending));
    }

    static HttpResponse<byte[]> send(HttpRequest.Builder builder) throws Exception {
        return CLIENT.send(builder.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    static HttpResponse<byte[]> post(String coding, byte[] body) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(url + "/tell.cgi"))
            .header("Content-Encoding", coding).POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    static void tell(String coding, byte[] body) throws Exception {
        HttpResponse<byte[]> answer = post(coding, body);
        System.out.println("send " + coding + " " + answer.statusCode() + " " + new String(answer.body()).trim());
    }

    static String digest(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    static void receive(String asked) throws Exception {
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(url + "/page.html"));
        if (!asked.equals("default"))
            builder.header("Accept-Encoding", asked);
        HttpResponse<byte[]> answer = send(builder);
        String coding = answer.headers().firstValue("Content-Encoding").orElse("identity");
        byte[] body = answer.body();
        if (coding.equals("gzip"))
            body = new GZIPInputStream(new ByteArrayInputStream(body)).readAllBytes();
        System.out.println("receive " + asked + " " + coding + " " + digest(body));
    }

    public static void main(String[] arguments) throws Exception {
        url = arguments[0];
        folder = arguments[1];
        ByteArrayOutputStream gzip = new ByteArrayOutputStream(), deflate = new ByteArrayOutputStream();
        try (OutputStream one = new GZIPOutputStream(gzip); OutputStream two = new DeflaterOutputStream(deflate)) {
            one.write(kept(""));
            two.write(kept(""));
        }
        tell("gzip", gzip.toByteArray());
        tell("deflate", deflate.toByteArray());
        tell("br", kept(".br"));
        tell("zstd", kept(".zst"));
        System.out.println("refused bad " + post("gzip", kept("")).statusCode());
        System.out.println("refused unknown " + post("compress", kept("")).statusCode());
        System.out.println("refused long " + post("gzip", kept(".long")).statusCode());
        receive("default");
        receive("gzip");
        for (String name : new String[] {"gzip", "br", "zstd", "deflate"})
            System.out.println("origin " + name + " " + digest(send(HttpRequest.newBuilder(
                URI.create(url + "/origin/" + name))).body()));
    }
}
